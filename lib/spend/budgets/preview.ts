import { requireMembership } from "@/lib/access/workspaces/membership";
import type { BudgetPreview, CreateBudgetRequest } from "@/lib/contract/spend/budgets";
import { callFunction } from "@/lib/db/query";
import { asServiceWithin, asUserPreviewing, type UserClaims } from "@/lib/db/transaction";
import { compare, multiply, parseDecimal, shiftDecimal, toText } from "@/lib/decimal";
import { notFound } from "@/lib/errors";
import { toExact } from "@/lib/ledger/pricing/exact";
import { type BudgetRow, selectBudgetStatus } from "./budget-queries";
import { describeBudgets } from "./load-budgets";
import { explainRefused, toNewBudget } from "./service";

/** What `private.draft_budget` returns: USD as exact text. */
type Draft = {
  id: string;
  spent_usd: string;
  booked_usd: string;
  days: { day: string; spent_usd: string }[] | null;
  yesterday: { day: string; cost_count: number; refused_count: number } | null;
};

/**
 * Shows what a budget would show and do if it were created now, for admins. The budget is inserted, counted and read by the
 * functions for real budgets, then rolled back: nothing is stored, nobody is warned, and no message waits for a lock.
 * @throws ServiceError not_found, permission_denied, validation_failed as `createBudget`, except for an unknown scope
 */
export function previewBudget(
  claims: UserClaims,
  slug: string,
  request: CreateBudgetRequest,
): Promise<BudgetPreview> {
  return asUserPreviewing(claims, async (client, now) => {
    const workspace = await requireMembership(client, claims, slug, "admin");
    const { id: workspaceId } = workspace;
    const { is_known: isKnown, ...budget } = await toNewBudget(client, workspace, request, now);
    const draft = await asServiceWithin(client, () =>
      callFunction<Draft>(client, "private.draft_budget", workspaceId, JSON.stringify(budget)),
    ).catch(explainRefused);
    const scope = { workspaceId, environment: "live" } as const;
    const [row] = await selectBudgetStatus(client, scope, draft.id);
    if (!row) throw notFound();
    // The view adds waiting spend, which the draft has counted already.
    const counted = { ...row, spent: draft.spent_usd, booked: draft.booked_usd };
    const [described] = await describeBudgets(client, scope, [counted]);
    if (!described) throw notFound();
    const { id: _, held_usd: __, created_at: ___, ...shown } = described;
    return {
      ...shown,
      would_warn: toWarnings(counted, draft.days ?? []),
      would_refuse: row.blocks
        ? {
            now: compare(parseDecimal(counted.spent), parseDecimal(row.limit_usd)) >= 0,
            yesterday: draft.yesterday,
          }
        : null,
      is_known_scope: isKnown,
    };
  });
}

/** The thresholds reached, each with the first day at whose end it was reached. @param days in order, USD as exact text */
function toWarnings(
  { limit_usd: limit, alert_percents: percents, alert_amounts: amounts, spent }: BudgetRow,
  days: { day: string; spent_usd: string }[],
): BudgetPreview["would_warn"] {
  const thresholds = [
    ...percents.map((percent) => ({
      level: toText(parseDecimal(percent)),
      usd: shiftDecimal(multiply(parseDecimal(limit), parseDecimal(percent)), -2),
    })),
    ...amounts.map((usd) => ({ level: `$${toText(parseDecimal(usd))}`, usd: parseDecimal(usd) })),
  ].sort((a, b) => compare(a.usd, b.usd));
  return thresholds.flatMap(({ level, usd }) => {
    if (compare(parseDecimal(spent), usd) < 0) return [];
    // A credit may have lowered spend since. The first day that reached the threshold counts.
    const first = days.find((each) => compare(parseDecimal(each.spent_usd), usd) >= 0);
    return first ? [{ level, usd: toExact(usd), on: first.day }] : [];
  });
}
