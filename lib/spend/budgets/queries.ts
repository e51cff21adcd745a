import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import type { LedgerScope } from "@/lib/spend/scope";

/** A budget with what was spent on it in a range of days, USD as exact text. */
export type BudgetRow = {
  id: string;
  name: string;
  scope_type: "global" | "project" | "feature" | "provider" | "key";
  /** The id of the project or key, or the name of the feature or provider; null for the whole workspace. */
  scope_value: string | null;
  amount: string;
  spent: string;
  /** The part of it that subscriptions and expenses are. */
  booked: string;
  created_at: Date;
};

/**
 * The budgets of a workspace that the caller may see, with the spend it may see on each, in one environment.
 * @param id of one alone
 */
export async function selectBudgetStatus(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  { from, until }: DayRange,
  id?: string,
): Promise<BudgetRow[]> {
  const { rows } = await client.query(
    `select budgets.id, budgets.name, budgets.scope_type, budgets.scope_value, budgets.amount, budgets.created_at,
       coalesce(spend.amount_usd, 0) as spent, coalesce(spend.booked_usd, 0) as booked
     from public.budgets
     left join lateral (
       select sum(amount_usd) as amount_usd,
         sum(amount_usd) filter (where type in ('subscription', 'expense')) as booked_usd
       from public.daily_totals
       where daily_totals.workspace_id = budgets.workspace_id
         and environment = $3 and day >= $1 and day < $2
         and dimension = case budgets.scope_type when 'global' then 'project' else budgets.scope_type end
         and case budgets.scope_type
           when 'global' then true
           -- The same provider in whatever letters, as prices have it.
           when 'provider' then lower(value) = lower(budgets.scope_value)
           else value = budgets.scope_value
         end
     ) as spend on true
     where budgets.workspace_id = $4 and ($5::uuid is null or budgets.id = $5)
     order by budgets.name, budgets.id`,
    [from, until, environment, workspaceId, id ?? null],
  );
  return rows;
}

/** How many budgets a workspace has, whoever may see them. As the service. */
export async function countBudgets(client: ClientBase, workspaceId: string): Promise<number> {
  const { rows } = await client.query("select private.count_budgets($1) as count", [workspaceId]);
  return rows[0].count;
}

/** A project or a key that a budget may be of. */
export type ScopeRow = { type: "project" | "key"; id: string; slug: string | null; name: string };

/**
 * The projects and keys that these scopes name, in a workspace.
 * @param named ids of either, or slugs of projects
 */
export async function selectScopes(
  client: ClientBase,
  workspaceId: string,
  named: string[],
): Promise<ScopeRow[]> {
  const { rows } = await client.query(
    `select 'project' as type, id, slug, name from public.projects
     where workspace_id = $1 and (id::text = any ($2) or slug = any ($2))
     union all
     select 'key', id, null, name from public.api_keys where workspace_id = $1 and id::text = any ($2)`,
    [workspaceId, named],
  );
  return rows;
}

/** @returns its id */
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
  const { rows } = await client.query<{ id: string }>(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount)
     values ($1, $2, $3, $4, $5) returning id`,
    [budget.workspaceId, budget.name, budget.scopeType, budget.scopeValue, budget.amount],
  );
  const [row] = rows;
  if (!row) throw new Error("A budget that was set was not returned.");
  return row.id;
}

/** Changes what is given of a budget; the rest stays. */
export async function updateBudget(
  client: ClientBase,
  workspaceId: string,
  id: string,
  { name, amount }: { name?: string | undefined; amount?: string | undefined },
): Promise<void> {
  await client.query(
    `update public.budgets set name = coalesce($3, name), amount = coalesce($4::numeric, amount)
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, name ?? null, amount ?? null],
  );
}

export async function deleteBudget(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await client.query("delete from public.budgets where workspace_id = $1 and id = $2", [workspaceId, id]);
}
