import type { ActivityQuery } from "@/lib/contract/activity";
import type { MetricsQuery } from "@/lib/contract/metrics";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadActivity } from "@/lib/reads/activity";
import { loadBreakdowns, loadTotals } from "@/lib/reads/metrics";
import { requireMembership } from "@/lib/workspaces/membership";

/**
 * The rows that are asked for, what sums them where somebody keeps that sum, and the same days without any other filter.
 */
type Asked = { rows: ActivityQuery; sums: MetricsQuery | undefined; whole: MetricsQuery };

/**
 * What the page of activity shows, all of one moment: a page of rows, what all pages sum to, and what there is to
 * filter by.
 * @param now milliseconds since 1970
 * @throws ServiceError not_found to strangers, validation_failed for a cursor that is none
 */
export function readActivityView(
  claims: UserClaims,
  slug: string,
  { rows, sums, whole }: Asked,
  now: number,
) {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    return {
      list: await loadActivity(client, id, rows, now),
      totals: sums && (await loadTotals(client, id, sums, now)),
      breakdowns: await loadBreakdowns(client, id, whole, now),
    };
  });
}
