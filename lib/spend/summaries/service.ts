import type { z } from "zod";
import type { monthSummary } from "@/lib/contract/spend/reads";
import type { KeyClaims } from "@/lib/db/transaction";
import { add, compare, type Decimal, parseDecimal, sum, zero } from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { readMonthTotals } from "./month-totals";
import type { MonthTotal } from "./summary-queries";

/** Sums the workspace's current month of what the key may see. The total and its parts sum the same rows. */
export async function readMonthSummary(claims: KeyClaims): Promise<z.output<typeof monthSummary>> {
  const totals = await readMonthTotals(claims);
  const projects = sumByProject(totals);
  const ofType = new Map<string, Decimal>();
  for (const [, , type, total] of totals) {
    ofType.set(type, add(ofType.get(type) ?? zero, parseDecimal(total)));
  }
  const {
    subscription = zero,
    expense = zero,
    bill_adjustment: adjustment = zero,
    ...usage
  } = Object.fromEntries(ofType);
  const [top] = projects;
  return {
    period: "month",
    total_usd: toExact(sum(ofType.values())),
    usage_usd: toExact(sum(Object.values(usage))),
    subscription_usd: toExact(subscription),
    expense_usd: toExact(expense),
    adjustment_usd: toExact(adjustment),
    by_project: Object.fromEntries(projects.map(({ slug, total }) => [slug, toExact(total)])),
    top_project: top ? { slug: top.slug, name: top.name, total_usd: toExact(top.total) } : null,
    message_count: totals.reduce((count, [, , , , messages]) => count + messages, 0),
    unpriced_count: totals.reduce((count, [, , , , , unpriced]) => count + unpriced, 0),
    included_usd: toExact(sum(totals.map(([, , , , , , included]) => parseDecimal(included)))),
  };
}

/** What each project cost, the highest first. */
function sumByProject(totals: MonthTotal[]): { slug: string; name: string; total: Decimal }[] {
  const projects = new Map<string, { slug: string; name: string; total: Decimal }>();
  for (const [slug, name, , total] of totals) {
    const known = projects.get(slug)?.total ?? zero;
    projects.set(slug, { slug, name, total: add(known, parseDecimal(total)) });
  }
  return [...projects.values()].sort((a, b) => compare(b.total, a.total) || (a.slug < b.slug ? -1 : 1));
}
