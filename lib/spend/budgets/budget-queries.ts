import type { ClientBase } from "pg";
import type { z } from "zod";
import type { budgetPeriod, scopeType } from "@/lib/contract/spend/reads";
import {
  bigint,
  boolean,
  date,
  integer,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { assignments, empty, sql } from "@/lib/db/sql";
import type { LedgerScope } from "@/lib/spend/scope";

export type ScopeType = z.output<typeof scopeType>;
export type BudgetPeriod = z.output<typeof budgetPeriod>;

// Postgres describes every column of a view as nullable.
const budgetRow = {
  id: neverNull(uuid()),
  name: neverNull(text()),
  scope_type: neverNull(text<ScopeType>()),
  /** The id of the project or key, or the name of anything else; null for the whole workspace. */
  scope_value: nullable(text()),
  period: neverNull(text<BudgetPeriod>()),
  week_start: neverNull(integer()),
  time_zone: neverNull(text()),
  starts_on: nullable(date()),
  ends_on: nullable(date()),
  /** The first day of the present period, in the budget's time zone. */
  period_from: neverNull(date()),
  /** The day after its last. */
  period_until: neverNull(date()),
  /** The local time in the budget's time zone: the milliseconds since 1970 of the UTC time that reads the same. */
  local_ms: neverNull(bigint()),
  /** In the budget's currency, like `raised_amount`. */
  amount: neverNull(numeric()),
  /** The limit at this time: during a raise, the raised one. */
  limit_usd: neverNull(numeric()),
  raised_amount: nullable(numeric()),
  raised_until: nullable(date()),
  alert_percents: neverNull(texts()),
  alert_amounts: neverNull(texts()),
  spent: neverNull(numeric()),
  /** The part of `spent` from subscriptions and expenses. */
  booked: neverNull(numeric()),
  created_at: neverNull(timestamp()),
  blocks: neverNull(boolean()),
  /** When its present period, or the budget, ends: milliseconds since 1970. */
  resets_ms: neverNull(bigint()),
  currency: neverNull(text()),
  /** Ids of the people it warns, including those who have left. */
  warned_people: neverNull(texts()),
  warned_channels: neverNull(texts()),
  /** The id of the member who may approve requests for more, who may have left. */
  owner_id: nullable(uuid()),
  owner_percent: neverNull(numeric()),
};

/** A budget with what was spent on it in its present period, USD as exact text. */
export type BudgetRow = Row<typeof budgetRow>;

/**
 * The budgets of a workspace that the caller may see, with their spend in one environment.
 * @param id only this budget
 */
export function selectBudgetStatus(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  id?: string,
): Promise<BudgetRow[]> {
  return selectAll(
    client,
    budgetRow,
    sql`select id, name, scope_type, scope_value, period, week_start, time_zone, starts_on, ends_on, period_from, period_until,
       (extract(epoch from local_time) * 1000)::bigint as local_ms, amount, limit_usd, raised_amount, raised_until,
       alert_percents::text[] as alert_percents, alert_amounts::text[] as alert_amounts,
       spent_usd as spent, booked_usd as booked, created_at, blocks, currency,
       warned_people::text[] as warned_people, warned_channels::text[] as warned_channels,
       owner_id, owner_percent,
       (extract(epoch from least(period_until, ends_on + 1)::timestamp at time zone time_zone) * 1000)::bigint as resets_ms
     from public.budget_status
     where workspace_id = ${workspaceId} and environment = ${environment} ${id === undefined ? empty : sql`and id = ${id}`}
     order by name, id`,
  );
}

// Postgres describes every column of a view as nullable.
const usageOfDay = { id: neverNull(uuid()), day: neverNull(text()), amount: neverNull(numeric()) };

/**
 * What usage and batches in the scopes of some budgets cost on each of the given UTC days, USD as exact text. The caller's
 * policies limit what is counted.
 */
export function selectBudgetUsage(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  ids: string[],
  days: string[],
): Promise<Row<typeof usageOfDay>[]> {
  return selectAll(
    client,
    usageOfDay,
    // Each day is named, so that the index is searched by day and value.
    sql`select budget_id as id, to_char(day, 'YYYY-MM-DD') as day, amount_usd as amount
      from public.budget_usage
      where workspace_id = ${workspaceId} and environment = ${environment} and budget_id = any (${ids})
        and day = any (${days}::date[])`,
  );
}

/** The number of budgets of a workspace, including those that the caller may not see. Runs as the service. */
export function countBudgets(client: ClientBase, workspaceId: string): Promise<number> {
  return callFunction(client, "private.count_budgets", workspaceId);
}

const heldOfBudget = { id: neverNull(uuid()), usd: neverNull(numeric()) };

/** What reservations hold of budgets at this moment, USD as exact text, for members. Budgets of which nothing is held have no row. */
export function selectHeldOfBudgets(
  client: ClientBase,
  workspaceId: string,
): Promise<Row<typeof heldOfBudget>[]> {
  return selectAll(
    client,
    heldOfBudget,
    sql`select budget_id as id, trim_scale(held_usd) as usd from public.budget_holds where workspace_id = ${workspaceId}`,
  );
}

const scopeRow = { type: text<"project" | "key">(), id: uuid(), slug: nullable(text()), name: text() };

/** A project or a key that a budget can be limited to. */
export type ScopeRow = Row<typeof scopeRow>;

/**
 * The projects and keys of a workspace with these ids or slugs.
 * @param named ids of projects or keys, or slugs of projects
 */
export function selectScopes(client: ClientBase, workspaceId: string, named: string[]): Promise<ScopeRow[]> {
  return selectAll(
    client,
    scopeRow,
    sql`select 'project' as type, id, slug, name from public.projects
      where workspace_id = ${workspaceId} and (id::text = any (${named}) or slug = any (${named}))
      union all
      select 'key', id, null, name from public.api_keys
      where workspace_id = ${workspaceId} and id::text = any (${named})`,
  );
}

const receiverRow = {
  type: text<"person" | "channel">(),
  id: uuid(),
  name: text(),
  /** Whether it receives nothing at present: a member who left, or a channel that is turned off. */
  is_off: boolean(),
};

/** A member or an alert channel that a budget can warn. */
export type ReceiverRow = Row<typeof receiverRow>;

/** The given members and channels that the workspace still has, sorted by name. */
export function selectReceivers(
  client: ClientBase,
  workspaceId: string,
  people: string[],
  channels: string[],
): Promise<ReceiverRow[]> {
  return selectAll(
    client,
    receiverRow,
    sql`select type, id, name, is_off
      from (
        select 'person' as type, m.user_id as id, coalesce(p.display_name, p.email) as name, false as is_off
        from public.workspace_members as m
        join public.profiles as p on p.id = m.user_id
        where m.workspace_id = ${workspaceId} and m.user_id = any (${people}::uuid[])
        union all
        select 'channel', c.id, c.name, c.disabled_at is not null and c.disabled_reason <> 'failing'
        from public.alert_channels as c
        where c.workspace_id = ${workspaceId} and c.id = any (${channels}::uuid[])
      ) as receivers
      order by lower(name), id`,
  );
}

/** The names of a workspace's budgets. */
export async function selectBudgetNames(client: ClientBase, workspaceId: string): Promise<string[]> {
  const rows = await selectAll(
    client,
    { name: text() },
    sql`select name from public.budgets where workspace_id = ${workspaceId}`,
  );
  return rows.map(({ name }) => name);
}

const namedRow = { is_named: boolean() };

/** Whether a workspace has a cost, live or test, with this name. Providers are compared without regard to case. */
export async function isNamedByCosts(
  client: ClientBase,
  workspaceId: string,
  type: Exclude<ScopeType, "global" | "project" | "key">,
  name: string,
): Promise<boolean> {
  const isSame = type === "provider" ? sql`lower(t.value) = lower(${name})` : sql`t.value = ${name}`;
  const row = await selectOne(
    client,
    namedRow,
    sql`select exists (
        select from public.daily_totals as t
        -- With the environments, so that the index is searched within the dimension.
        where t.workspace_id = ${workspaceId} and t.environment in ('live', 'test') and t.dimension = ${type} and ${isSame}
      ) as is_named`,
  );
  return row.is_named;
}

/** The columns of a new budget. Amounts are exact text in its currency, thresholds in USD, days `YYYY-MM-DD`. */
export type NewBudget = {
  workspace_id: string;
  name: string;
  scope_type: ScopeType;
  scope_value: string | null;
  period: BudgetPeriod;
  /** 1 is Monday. */
  week_start: number;
  time_zone: string;
  starts_on: string | null;
  ends_on: string | null;
  currency: string;
  /** USD for one unit of the currency, in the budget's first period. */
  usd_rate: string;
} & Editable;

/** The columns of a budget that can be changed. */
export type Editable = {
  name: string;
  amount: string;
  raised_amount: string | null;
  raised_until: string | null;
  alert_percents: string[];
  alert_amounts: string[];
  blocks: boolean;
  warned_people: string[];
  warned_channels: string[];
  owner_id: string | null;
  /** The default if left out. */
  owner_percent?: string;
};

/** Inserts a budget. @returns its id */
export async function insertBudget(client: ClientBase, budget: NewBudget): Promise<string> {
  const row = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.budgets (
        workspace_id, name, scope_type, scope_value, amount, period, week_start, time_zone, starts_on, ends_on,
        raised_amount, raised_until, alert_percents, alert_amounts, blocks, currency, usd_rate, warned_people,
        warned_channels, owner_id, owner_percent
      ) values (
        ${budget.workspace_id}, ${budget.name}, ${budget.scope_type}, ${budget.scope_value}, ${budget.amount},
        ${budget.period}, ${budget.week_start}, ${budget.time_zone}, ${budget.starts_on}, ${budget.ends_on},
        ${budget.raised_amount}, ${budget.raised_until}, ${budget.alert_percents}, ${budget.alert_amounts},
        ${budget.blocks}, ${budget.currency}, ${budget.usd_rate}, ${budget.warned_people}, ${budget.warned_channels},
        ${budget.owner_id}, coalesce(${budget.owner_percent ?? null}::numeric, 50)
      ) returning id`,
  );
  return row.id;
}

/** Changes the given fields of a budget. */
export async function updateBudget(
  client: ClientBase,
  workspaceId: string,
  id: string,
  changes: { [Field in keyof Editable]?: Editable[Field] | undefined },
): Promise<void> {
  const set = assignments(changes);
  if (!set) return;
  await execute(
    client,
    sql`update public.budgets set ${set} where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

/** Deletes a budget. */
export async function deleteBudget(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await execute(client, sql`delete from public.budgets where workspace_id = ${workspaceId} and id = ${id}`);
}
