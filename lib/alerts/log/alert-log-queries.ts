import type { ClientBase } from "pg";
import type { Alert } from "@/lib/alerts/alert";
import { alertColumns, projectSlug, selectedAlert } from "@/lib/alerts/alert-columns";
import type { BudgetRequestDetails } from "@/lib/alerts/kinds/budget-request";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";
import type { DeliveryState } from "@/lib/contract/alerts/alerts";
import {
  bigint,
  boolean,
  date,
  integer,
  json,
  nullable,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

/** A position in a list: the number of a row. */
export type AlertPlace = { number: string };

const alertRow = {
  ...alertColumns,
  is_quiet: boolean(),
  quiet_reason: nullable(text<"was_above" | "snoozed" | "rule_off" | "start_untold">()),
};

/** An alert with the slug of the project that its budget is limited to. */
export type AlertRow = Row<typeof alertRow>;

/** A workspace's alerts after a position, the newest first. */
export function selectAlerts(
  client: ClientBase,
  workspaceId: string,
  { after, atMost }: { after: AlertPlace | null; atMost: number },
): Promise<AlertRow[]> {
  return selectAll(
    client,
    alertRow,
    sql`select ${selectedAlert}, a.is_quiet, a.quiet_reason
      from public.alerts as a
      where a.workspace_id = ${workspaceId} ${after === null ? empty : sql`and a.number < ${after.number}::bigint`}
      order by a.number desc
      limit ${atMost}`,
  );
}

const courseRow = { ...alertRow, entry_id: uuid() };

/** The alerts of entries of the inbox, the newest first. @param atMost the most of each */
export function selectCourses(
  client: ClientBase,
  workspaceId: string,
  entryIds: string[],
  atMost: number,
): Promise<Row<typeof courseRow>[]> {
  return selectAll(
    client,
    courseRow,
    sql`select ${selectedAlert}, a.is_quiet, a.quiet_reason, e.id as entry_id
      from public.alert_entries as e
      cross join lateral (
        select * from public.alerts as each
        where each.workspace_id = e.workspace_id and each.rule = e.rule and each.subject_id = e.subject_id
          and each.period = e.period
        order by each.number desc
        limit ${atMost}
      ) as a
      where e.workspace_id = ${workspaceId} and e.id = any (${entryIds}::uuid[])
      order by a.number desc`,
  );
}

const crossingRow = {
  budget_id: text(),
  /** The first day of the budget's period. */
  period: date(),
  level: text(),
  was_above: boolean(),
  details: json<unknown>(),
  fired_at: timestamp(),
  project_slug: nullable(text()),
};

/** A threshold of a budget that was reached. */
export type CrossingRow = Row<typeof crossingRow>;

/**
 * The thresholds of budgets that were reached since a day, the newest first.
 * @param since `YYYY-MM-DD`: the first day of the budget's period, or of the alert
 */
export function selectCrossings(
  client: ClientBase,
  workspaceId: string,
  since: string,
  atMost: number,
): Promise<CrossingRow[]> {
  return selectAll(
    client,
    crossingRow,
    sql`select a.subject_id as budget_id, a.period, a.level, a.details, a.fired_at, ${projectSlug} as project_slug,
        a.is_quiet and coalesce(a.quiet_reason, 'was_above') = 'was_above' as was_above
      from public.alerts as a
      where a.workspace_id = ${workspaceId} and a.rule = 'budget_threshold'
        and (a.period >= ${since}::date or a.fired_at >= ${since}::date)
      order by a.number desc
      limit ${atMost}`,
  );
}

const deliveryRow = {
  id: uuid(),
  number: bigint(),
  channel_id: uuid(),
  channel_name: text(),
  channel_kind: text<ChannelKind>(),
  /** Whether it is a mail to a member whom the budget names. */
  is_member: boolean(),
  alert_id: nullable(uuid()),
  /** The number of alerts in a digest; null for a single alert or a test. */
  digest_count: nullable(bigint()),
  /** The alert that it sends; null for a digest or a test. */
  alert: nullable(json<Omit<Alert, "project_slug">>()),
  /** The budget request that it is about; null for other deliveries. */
  request_details: nullable(json<BudgetRequestDetails>()),
  state: text<DeliveryState>(),
  attempts: integer(),
  next_attempt_at: timestamp(),
  last_status: nullable(integer()),
  last_error: nullable(text()),
  delivered_at: nullable(timestamp()),
  created_at: timestamp(),
};

/** A delivery with its alert. */
export type DeliveryRow = Row<typeof deliveryRow>;

// An alert that was sent with a digest has the digest's outcome. Only mails have no channel. The policies show members just the
// mails to people whom a budget names; `channel_id` and the name are then those of the member.
const deliveries = sql`select d.id, d.number, coalesce(d.channel_id, d.member_id, d.id) as channel_id,
    coalesce(d.channel_name, p.display_name, p.email, '') as channel_name, coalesce(d.channel_kind, 'email') as channel_kind,
    d.member_id is not null as is_member, d.alert_id,
    case when d.digest_at is not null then (
      select count(*) from public.deliveries as m where m.workspace_id = d.workspace_id and m.digest_id = d.id
    ) end as digest_count,
    case when a.id is not null then to_jsonb(a) end as alert, case when d.kind in ('budget_request', 'budget_request_mail') then d.details end as request_details, sent.state, sent.attempts, sent.next_attempt_at,
    sent.last_status, sent.last_error, sent.delivered_at, d.created_at
  from public.deliveries as d
  join public.deliveries as sent on sent.workspace_id = d.workspace_id and sent.id = coalesce(d.digest_id, d.id)
  left join public.alerts as a on a.workspace_id = d.workspace_id and a.id = d.alert_id
  left join public.profiles as p on p.id = d.member_id`;

/** The deliveries of alerts, by the channel's name. */
export function selectDeliveriesOf(
  client: ClientBase,
  workspaceId: string,
  alertIds: string[],
): Promise<DeliveryRow[]> {
  return selectAll(
    client,
    deliveryRow,
    sql`${deliveries} where d.workspace_id = ${workspaceId} and d.alert_id = any (${alertIds}::uuid[])
      order by lower(coalesce(d.channel_name, p.display_name, p.email)), d.number`,
  );
}

/** A channel's deliveries after a position, the newest first. */
export function selectChannelLog(
  client: ClientBase,
  workspaceId: string,
  channelId: string,
  { after, atMost }: { after: AlertPlace | null; atMost: number },
): Promise<DeliveryRow[]> {
  return selectAll(
    client,
    deliveryRow,
    sql`${deliveries} where d.workspace_id = ${workspaceId} and d.channel_id = ${channelId}
        ${after === null ? empty : sql`and d.number < ${after.number}::bigint`}
      order by d.number desc
      limit ${atMost}`,
  );
}

/** One delivery, or none. */
export function selectDelivery(client: ClientBase, workspaceId: string, id: string): Promise<DeliveryRow[]> {
  return selectAll(
    client,
    deliveryRow,
    sql`${deliveries} where d.workspace_id = ${workspaceId} and d.id = ${id}`,
  );
}

const existing = { id: uuid() };

/** Whether a workspace has a channel. */
export async function hasChannel(client: ClientBase, workspaceId: string, id: string): Promise<boolean> {
  const rows = await selectAll(
    client,
    existing,
    sql`select id from public.alert_channels where workspace_id = ${workspaceId} and id = ${id}`,
  );
  return rows.length > 0;
}

/**
 * Queues a dead delivery again. Runs as the service in an admin's transaction.
 * @returns null on success, otherwise why not
 */
export function resendDelivery(
  client: ClientBase,
  workspaceId: string,
  id: string,
): Promise<"not_dead" | "disabled" | null> {
  return callFunction(client, "private.resend_delivery", workspaceId, id);
}
