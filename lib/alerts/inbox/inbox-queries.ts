import type { ClientBase } from "pg";
import { alertColumns, selectedAlert } from "@/lib/alerts/alert-columns";
import type { InboxEntry } from "@/lib/contract/alerts/alert-inbox";
import { boolean, integer, nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, selectAll, selectOne } from "@/lib/db/query";
import { empty, type Sql, sql } from "@/lib/db/sql";

type ResolutionReason = NonNullable<InboxEntry["resolved"]>["because"];

const entryRow = {
  ...alertColumns,
  entry_id: uuid(),
  opened_at: timestamp(),
  assignee_id: nullable(uuid()),
  assignee_name: nullable(text()),
  resolved_at: nullable(timestamp()),
  resolved_because: nullable(text<ResolutionReason>()),
  resolver_id: nullable(uuid()),
  resolver_name: nullable(text()),
  snooze_id: nullable(uuid()),
  snoozed_until: nullable(timestamp()),
  is_whole_rule: nullable(boolean()),
};

/** An entry with its latest alert: `id`, `number`, `rule` and the figures are that alert's. */
export type EntryRow = Row<typeof entryRow>;

/** Which entries of a workspace are read. */
export type EntryFilter = {
  status: "open" | "snoozed" | "resolved" | "all";
  /** A user's id, `nobody`, or anyone. */
  assignee?: string | undefined;
};

const snoozes = sql`from public.alert_snoozes as z
  where z.workspace_id = e.workspace_id and z.rule = e.rule and (z.subject_id is null or z.subject_id = e.subject_id)
    and z.until > now()`;

const conditions: Record<EntryFilter["status"], Sql> = {
  open: sql`and e.resolved_at is null and not exists (select ${snoozes})`,
  snoozed: sql`and e.resolved_at is null and exists (select ${snoozes})`,
  resolved: sql`and e.resolved_at is not null`,
  all: empty,
};

const ofAssignee = (assignee: string | undefined) =>
  assignee === undefined
    ? empty
    : assignee === "nobody"
      ? sql`and e.assignee_id is null`
      : sql`and e.assignee_id = ${assignee}`;

const entries = sql`select ${selectedAlert}, e.id as entry_id, e.opened_at, e.assignee_id,
    coalesce(p.display_name, p.email) as assignee_name, e.resolved_at, e.resolved_because, r.id as resolver_id,
    coalesce(r.display_name, r.email) as resolver_name, snooze.id as snooze_id, snooze.until as snoozed_until,
    snooze.is_whole_rule
  from public.alert_entries as e
  join public.alerts as a on a.workspace_id = e.workspace_id and a.number = e.last_number
  left join public.profiles as p on p.id = e.assignee_id
  left join public.profiles as r on r.id = e.resolved_by
  left join lateral (select z.id, z.until, z.subject_id is null as is_whole_rule ${snoozes} order by z.until desc limit 1) as snooze on true`;

/** A workspace's entries after a position, the one with the latest alert first. */
export function selectEntries(
  client: ClientBase,
  workspaceId: string,
  { status, assignee }: EntryFilter,
  { after, atMost }: { after: { number: string } | null; atMost: number },
): Promise<EntryRow[]> {
  return selectAll(
    client,
    entryRow,
    sql`${entries} where e.workspace_id = ${workspaceId} ${conditions[status]} ${ofAssignee(assignee)}
        ${after === null ? empty : sql`and e.last_number < ${after.number}::bigint`}
      order by e.last_number desc
      limit ${atMost}`,
  );
}

/** One entry, or none. */
export function selectEntry(client: ClientBase, workspaceId: string, id: string): Promise<EntryRow[]> {
  return selectAll(client, entryRow, sql`${entries} where e.workspace_id = ${workspaceId} and e.id = ${id}`);
}

const countRow = { open: integer(), snoozed: integer(), mine: integer() };

/** Counts the open entries of a workspace, the snoozed ones, and the open ones assigned to a user. */
export function countEntries(
  client: ClientBase,
  workspaceId: string,
  userId: string,
): Promise<Row<typeof countRow>> {
  return selectOne(
    client,
    countRow,
    sql`select (count(*) filter (where not is_snoozed))::integer as open, (count(*) filter (where is_snoozed))::integer as snoozed,
        (count(*) filter (where not is_snoozed and assignee_id = ${userId}))::integer as mine
      from (
        select e.assignee_id, exists (select ${snoozes}) as is_snoozed
        from public.alert_entries as e
        where e.workspace_id = ${workspaceId} and e.resolved_at is null
      ) as unresolved`,
  );
}

/**
 * Assigns an entry, resolves it or opens it again. Runs as the service in a member's transaction; the function checks the
 * user's role again.
 * @returns null on success, otherwise why not
 */
export function changeEntry(
  client: ClientBase,
  workspaceId: string,
  id: string,
  changes: { assignee_id?: string | null; is_resolved?: boolean },
): Promise<"no_entry" | "no_member" | "over" | null> {
  return callFunction(client, "private.change_alert_entry", workspaceId, id, JSON.stringify(changes));
}
