import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import type { ProviderLimit } from "@/lib/contract/bills/provider-limits";
import type { budget as budgetSchema } from "@/lib/contract/spend/budgets";
import { budgetRowsHref } from "./budget-rows-href";
import {
  type EditableBudget,
  formatPeriod,
  formatScope,
  formatWarned,
  toEditableBudget,
} from "./budget-view";
import { formatTarget, limitStates } from "./limit-text";

type Budget = z.output<typeof budgetSchema>;

/** A budget as a row of the table. Amounts are exact text in USD. */
export type BudgetRow = {
  id: string;
  name: string;
  /** What it covers and how often it resets, as text. */
  scope: string;
  period: string;
  blocks: boolean;
  /** The people and channels that it warns, as text. */
  warns: string;
  amount: string;
  spent: string;
  /** What reservations hold of it. */
  held: string;
  remaining: string;
  forecast: string | null;
  /** The fraction of the limit that is spent, exact. */
  used: string;
  /** The day on which it is expected to be used up, `YYYY-MM-DD`. */
  runsOutOn: string | null;
  /** The address of the rows that it counts. */
  href: string;
  /** Its limits at providers and how they stand, as text; empty without one. */
  limits: string;
  /** Whether it is close to its limit. */
  alert: boolean;
  editable: EditableBudget;
};

/** Maps a budget of the service's answer to a row of the table, which a client component renders. */
export function toBudgetRow(budget: Budget, workspace: string, limits: ProviderLimit[] = []): BudgetRow {
  const { id, name, scope, blocks, amount, spent, remaining, forecast } = budget;
  return {
    id,
    name,
    scope: formatScope(scope),
    period: formatPeriod(budget),
    blocks,
    warns: formatWarned(budget.warns) ?? "Warns channels by their rules",
    amount: exactText(amount),
    spent: exactText(spent),
    held: exactText(budget.held_usd),
    remaining: exactText(remaining),
    forecast: forecast === null ? null : exactText(forecast),
    used: exactText(budget.percent_used),
    runsOutOn: budget.runs_out_on,
    href: budgetRowsHref(workspace, budget),
    limits: limits.map((limit) => `${formatTarget(limit)}: ${limitStates[limit.state].label}`).join(", "),
    alert: budget.alert,
    editable: toEditableBudget(budget),
  };
}
