import type { z } from "zod";
import { exactText, toNumber } from "@/components/amount";
import type { budget } from "@/lib/contract/budgets";

type Budget = z.output<typeof budget>;

/** The editable fields of a budget; `amount` is its limit in USD as exact text. */
export type EditableBudget = { id: string; name: string; amount: string };

/** Id of the element that gets the focus when a budget leaves the page. */
export const budgetsSentenceId = "budgets-sentence";

/** Maps a budget of an answer to its editable fields. */
export function toEditableBudget({ id, name, amount }: Budget): EditableBudget {
  return { id, name, amount: exactText(amount) };
}

/** Sorts budgets by the part of the limit that is used, the highest first. */
export function sortByUse(budgets: Budget[]): Budget[] {
  const used = ({ percent_used }: Budget) => toNumber(percent_used);
  return [...budgets].sort((a, b) => used(b) - used(a));
}

const kinds = {
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  key: "Key",
  user: "Person",
  tag: "Tag",
} as const;

/** A budget's scope as text: "All spend", "Project checkout". */
export function formatScope({ type, label }: Budget["scope"]): string {
  return type === "global" ? "All spend" : `${kinds[type]} ${label}`;
}
