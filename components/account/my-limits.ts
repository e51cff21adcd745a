import type { z } from "zod";
import { type Amount, exactText, sumAmounts } from "@/components/figures/amount";
import type { apiKey } from "@/lib/contract/access/api-keys";
import type { budget } from "@/lib/contract/spend/budgets";
import type { keyLimits } from "@/lib/contract/spend/limits";

type ApiKey = z.output<typeof apiKey>;
type Budget = z.output<typeof budget>;
type CoveringBudget = z.output<typeof keyLimits>["budgets"][number];

/** A limit that applies to a person. Amounts are USD. */
export type MyLimit = {
  id: string;
  name: string;
  kind: "key" | "budget";
  /** The period of the limit. */
  period: Budget["period"];
  limit: Amount;
  /** What is left of it; negative if it is exceeded. */
  left: Amount;
  blocks: boolean;
  /** A double, for sorting and drawing. */
  used: number;
};

/**
 * The limits that apply to a person, the most used first: those of their active keys, the budgets that can count what these keys
 * record, and the budgets of the person. Each budget is listed once.
 * @param covering the budgets of each key, by the key's id
 * @param email the address by which messages name the person
 */
export function limitsOf(
  keys: readonly ApiKey[],
  covering: ReadonlyMap<string, readonly CoveringBudget[]>,
  budgets: readonly Budget[],
  email: string,
): MyLimit[] {
  const active = keys.filter(({ status }) => status === "active");
  const covered = new Set(active.flatMap(({ id }) => (covering.get(id) ?? []).map((each) => each.id)));
  const isMine = ({ id, scope }: Budget) =>
    covered.has(id) || (scope.type === "user" && scope.value?.toLowerCase() === email.toLowerCase());
  const usedOf = (spent: Amount, limit: Amount) =>
    Number(exactText(limit)) === 0 ? 1 : Number(exactText(spent)) / Number(exactText(limit));
  const leftOf = (spent: Amount, limit: Amount) => {
    const digits = exactText(spent);
    return sumAmounts([limit, digits.startsWith("-") ? digits.slice(1) : `-${digits}`]);
  };
  const ofKeys = active.flatMap(({ id, name, spent, ...key }): MyLimit[] => {
    const limit = key.raise?.amount ?? key.monthly_limit;
    if (limit === null) return [];
    const [left, used] = [leftOf(spent, limit), usedOf(spent, limit)];
    return [{ id, name, kind: "key", period: "month", limit, left, blocks: key.on_limit === "refuse", used }];
  });
  const ofBudgets = budgets.filter(isMine).map(
    ({ id, name, period, spent, amount: limit, remaining: left, blocks }): MyLimit => ({
      ...{ id, name, kind: "budget", period, limit, left, blocks, used: usedOf(spent, limit) },
    }),
  );
  return [...ofKeys, ...ofBudgets].sort((a, b) => b.used - a.used);
}
