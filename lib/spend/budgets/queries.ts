import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import { nullable, numeric, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { assignments, empty, type Sql, sql } from "@/lib/db/sql";
import type { LedgerScope } from "@/lib/spend/scope";

const budgetRow = {
  id: uuid(),
  name: text(),
  scope_type: text<"global" | "project" | "feature" | "provider" | "key" | "user" | "tag">(),
  /** The id of the project or key, or the name of the feature, provider, person or tag; null for the whole workspace. */
  scope_value: nullable(text()),
  amount: numeric(),
  spent: numeric(),
  /** The part of `spent` from subscriptions and expenses. */
  booked: numeric(),
  created_at: timestamp(),
};

/** A budget with what was spent on it in a range of days, USD as exact text. */
export type BudgetRow = Row<typeof budgetRow>;

/**
 * The budgets of a workspace that the caller may see, with their spend in one environment, as far as the caller may see it.
 * @param only.month another month than the current UTC month of the transaction. @param only.id only this budget
 */
export function selectBudgetStatus(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  { month, id }: { month?: DayRange; id?: string | undefined } = {},
): Promise<BudgetRow[]> {
  const thisMonth = sql`date_trunc('month', now() at time zone 'UTC')`;
  const { from, last } = month
    ? { from: sql`${month.from}::date`, last: sql`${month.until}::date - 1` }
    : { from: thisMonth, last: sql`${thisMonth} + interval '1 month - 1 day'` };
  // Names the days, so that the index finds those of one value; with the ends of a range it reads all values of each day.
  const days = sql`any (array(select generate_series(${from}, ${last}, interval '1 day')::date))`;
  const spendOf = (scopeType: Sql, dimension: Sql, ofScope: Sql) => sql`
    select type, amount_usd
    from public.daily_totals
    where ${scopeType} and daily_totals.workspace_id = budgets.workspace_id and environment = ${environment}
      and dimension = ${dimension} and day = ${days} ${ofScope}`;
  return selectAll(
    client,
    budgetRow,
    sql`select budgets.id, budgets.name, budgets.scope_type, budgets.scope_value, budgets.amount, budgets.created_at,
       coalesce(spend.amount_usd, 0) as spent, coalesce(spend.booked_usd, 0) as booked
     from public.budgets
     left join lateral (
       select sum(amount_usd) as amount_usd,
         sum(amount_usd) filter (where type in ('subscription', 'expense')) as booked_usd
       from (
         ${spendOf(
           sql`budgets.scope_type in ('project', 'feature', 'key', 'user', 'tag')`,
           sql`budgets.scope_type`,
           sql`and value = budgets.scope_value`,
         )}
         union all
         -- Each dimension sums to the whole; there are fewest providers.
         ${spendOf(sql`budgets.scope_type = 'global'`, sql`'provider'`, empty)}
         union all
         -- Providers are compared without case, as for prices.
         ${spendOf(
           sql`budgets.scope_type = 'provider'`,
           sql`'provider'`,
           sql`and lower(value) = lower(budgets.scope_value)`,
         )}
       ) as amounts
     ) as spend on true
     where budgets.workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and budgets.id = ${id}`}
     order by budgets.name, budgets.id`,
  );
}

/** The number of budgets of a workspace, including those that the caller may not see. Runs as the service. */
export function countBudgets(client: ClientBase, workspaceId: string): Promise<number> {
  return callFunction(client, "private.count_budgets", workspaceId);
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

/** Inserts a budget. @returns its id */
export async function insertBudget(
  client: ClientBase,
  budget: {
    workspaceId: string;
    name: string;
    scopeType: BudgetRow["scope_type"];
    scopeValue: string | null;
    amount: string;
  },
): Promise<string> {
  const { workspaceId, name, scopeType, scopeValue, amount } = budget;
  const row = await selectOne(
    client,
    { id: uuid() },
    sql`insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
      values (${workspaceId}, ${name}, ${scopeType}, ${scopeValue}, ${amount}) returning id`,
  );
  return row.id;
}

/** Changes the given fields of a budget. */
export async function updateBudget(
  client: ClientBase,
  workspaceId: string,
  id: string,
  { name, amount }: { name?: string | undefined; amount?: string | undefined },
): Promise<void> {
  const set = assignments({ name, amount });
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
