import type { ClientBase } from "pg";
import type { AlertRule, AlertSubjectType } from "@/lib/contract/alerts/alert-rules";
import {
  boolean,
  json,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const settingRow = {
  rule: neverNull(text<AlertRule>()),
  is_on: neverNull(boolean()),
  parameter: nullable(numeric()),
  default_parameter: nullable(numeric()),
  has_data: neverNull(boolean()),
};

/** A rule with its settings, and whether the workspace has any subject for it. */
export type SettingRow = Row<typeof settingRow>;

/** The rules with a workspace's settings. */
export function selectSettings(client: ClientBase, workspaceId: string): Promise<SettingRow[]> {
  return selectAll(
    client,
    settingRow,
    sql`select d.rule, d.is_on, d.parameter, d.default_parameter,
        case
          when d.rule like 'budget%' then exists (select from public.budgets where workspace_id = ${workspaceId})
          when d.rule = 'key_limit' then exists (
            select from public.api_keys
            where workspace_id = ${workspaceId} and monthly_limit is not null and revoked_at is null
          )
          when d.rule = 'key_expiry' then exists (
            select from public.api_keys
            where workspace_id = ${workspaceId} and expires_at is not null and revoked_at is null and kind = 'key'
          )
          when d.rule = 'silent_source' then exists (
            select from public.source_arrivals where workspace_id = ${workspaceId}
          )
          when d.rule in ('bill_coverage', 'bill_difference') then exists (select from public.bills where workspace_id = ${workspaceId})
          when d.rule = 'provider_limit' then exists (
            select from public.provider_limits where workspace_id = ${workspaceId}
          )
          when d.rule = 'refused_costs' then exists (
            select from public.budgets where workspace_id = ${workspaceId} and blocks
          ) or exists (
            select from public.api_keys
            where workspace_id = ${workspaceId} and monthly_limit is not null and revoked_at is null
          )
          when d.rule = 'unusual_day' then exists (
            select from public.daily_totals
            where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'provider'
              and day <= (now() at time zone 'UTC')::date - 28
          )
          else exists (
            select from public.daily_totals
            where workspace_id = ${workspaceId} and environment = 'live' and dimension = 'model'
          )
        end as has_data
      from public.alert_rule_settings as d
      where d.workspace_id = ${workspaceId}`,
  );
}

const stateRow = {
  rule: neverNull(text<AlertRule>()),
  subject_type: neverNull(text<AlertSubjectType>()),
  subject_id: neverNull(text()),
  state: neverNull(text<"warning" | "alert">()),
  since: neverNull(timestamp()),
  level: neverNull(text()),
  details: neverNull(json<unknown>()),
};

/** A subject that is not OK, with the figures of its alert. */
export type StateRow = Row<typeof stateRow>;

/**
 * The latest subjects of each rule that are not OK. A budget is one for its highest threshold that is reached in its present period, and
 * still is, for instance after a void.
 */
export function selectStates(
  client: ClientBase,
  workspaceId: string,
  atMostOfRule: number,
): Promise<StateRow[]> {
  return selectAll(
    client,
    stateRow,
    sql`with reached as (
        select distinct on (a.subject_id) a.rule, a.subject_type, a.subject_id, a.state, a.fired_at as since, a.level, a.details
        from public.alerts as a
        join public.budget_status as b
          on b.workspace_id = a.workspace_id and b.id::text = a.subject_id and b.environment = 'live'
            and b.period_from = a.period and b.spent_usd * 100 >= b.limit_usd * (a.details ->> 'percent')::numeric
        where a.workspace_id = ${workspaceId} and a.rule = 'budget_threshold'
        order by a.subject_id, (a.details ->> 'percent')::numeric desc
      ), states as (
        select s.rule, s.subject_type, s.subject_id, s.state, s.since, a.level, a.details
        from public.alert_states as s
        join public.alerts as a
          on a.workspace_id = s.workspace_id and a.rule = s.rule and a.subject_id = s.subject_id and a.period = s.period
            and a.level = s.state and a.rearmed_at is null
        where s.workspace_id = ${workspaceId}
        union all
        select * from reached
      )
      select rule, subject_type, subject_id, state, since, level, details
      from (select *, row_number() over (partition by rule order by since desc, subject_id) as place from states) as s
      where place <= ${atMostOfRule}
      order by since desc, subject_id`,
  );
}

const snoozeRow = { id: uuid(), rule: text<AlertRule>(), subject_id: nullable(text()), until: timestamp() };

/** A snooze: a rule or a subject whose alerts are not sent until a given time. */
export type SnoozeRow = Row<typeof snoozeRow>;

/** The present snoozes. @param id only this one, even if it has ended */
export function selectSnoozes(client: ClientBase, workspaceId: string, id?: string): Promise<SnoozeRow[]> {
  return selectAll(
    client,
    snoozeRow,
    sql`select id, rule, subject_id, until from public.alert_snoozes
      where workspace_id = ${workspaceId} ${id === undefined ? sql`and until > now()` : sql`and id = ${id}`}`,
  );
}

const knownRow = { known: neverNull(boolean()) };

/** Whether a rule has ever raised an alert for a subject. */
export async function hasAlertOf(
  client: ClientBase,
  workspaceId: string,
  rule: AlertRule,
  subjectId: string,
): Promise<boolean> {
  const [row] = await selectAll(
    client,
    knownRow,
    sql`select exists (
        select from public.alerts
        where workspace_id = ${workspaceId} and rule = ${rule} and subject_id = ${subjectId}
      ) as known`,
  );
  return row?.known ?? false;
}

// The rest runs as the service in the user's transaction; each function checks the user's role again.

/** Changes the given settings of a rule. */
export async function setRule(
  client: ClientBase,
  workspaceId: string,
  rule: AlertRule,
  changes: { is_on?: boolean; parameter?: number | null },
): Promise<void> {
  await callFunction(client, "private.set_alert_rule", workspaceId, rule, JSON.stringify(changes));
}

/** Snoozes a rule, or one of its subjects. @returns the id; null if the end is in the past or too far away */
export function addSnooze(
  client: ClientBase,
  workspaceId: string,
  rule: AlertRule,
  subjectId: string | null,
  until: string,
  atMostDays: number,
): Promise<string | null> {
  return callFunction(client, "private.snooze_alerts", workspaceId, rule, subjectId, until, atMostDays);
}

/** Ends a snooze. */
export async function removeSnooze(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await callFunction(client, "private.end_alert_snooze", workspaceId, id);
}
