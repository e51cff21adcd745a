import type { z } from "zod";
import { exactText } from "@/components/amount";
import type { budget } from "@/lib/contract/budgets";

type Budget = z.output<typeof budget>;

/** A budget as an island takes it: its limit as exact text. */
export type BudgetInHand = { id: string; name: string; amount: string };

/** The element that the focus goes to when a budget leaves the page. */
export const budgetsSentenceId = "budgets-sentence";

/** What of a budget can be changed, from an answer. */
export function toBudgetInHand({ id, name, amount }: Budget): BudgetInHand {
  return { id, name, amount: exactText(amount) };
}

/** Those that are closest to their limits first. */
export function byCloseness(budgets: Budget[]): Budget[] {
  const used = ({ percent_used }: Budget) => Number(exactText(percent_used));
  return [...budgets].sort((a, b) => used(b) - used(a));
}

const kinds = { project: "Project", feature: "Feature", provider: "Provider", key: "Key" } as const;

/** What a budget is of, in words. */
export function describeScope({ type, label }: Budget["scope"]): string {
  return type === "global" ? "All spend" : `${kinds[type]} ${label}`;
}
