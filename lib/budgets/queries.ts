import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/reads/month";
import type { LedgerScope } from "@/lib/reads/scope";

/** A budget with what was spent on it in a range of days, USD as exact text. */
export type BudgetRow = {
  id: string;
  name: string;
  scope_type: "global" | "project" | "feature" | "provider" | "key";
  amount: string;
  spent: string;
};

/** The budgets of a workspace that the caller may see, with the spend it may see on each, in one environment. */
export async function selectBudgetStatus(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  { from, until }: DayRange,
): Promise<BudgetRow[]> {
  const { rows } = await client.query(
    `select budgets.id, budgets.name, budgets.scope_type, budgets.amount, coalesce(spend.amount_usd, 0) as spent
     from public.budgets
     left join lateral (
       select sum(amount_usd) as amount_usd
       from public.daily_spend
       where daily_spend.workspace_id = budgets.workspace_id
         and environment = $3 and day >= $1 and day < $2
         and case budgets.scope_type
           when 'global' then true
           when 'project' then project_id::text = budgets.scope_value
           when 'feature' then feature = budgets.scope_value
           when 'provider' then provider = budgets.scope_value
           when 'key' then api_key_id::text = budgets.scope_value
         end
     ) as spend on true
     where budgets.workspace_id = $4
     order by budgets.name, budgets.id`,
    [from, until, environment, workspaceId],
  );
  return rows;
}
