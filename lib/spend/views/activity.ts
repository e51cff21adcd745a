import { requireMembership } from "@/lib/access/workspaces/membership";
import type { ActivityQuery } from "@/lib/contract/activity";
import type { MetricsQuery } from "@/lib/contract/metrics";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadActivity } from "@/lib/spend/activity/service";
import { loadTotals } from "@/lib/spend/metrics/service";

/**
 * What the page of activity shows, all of one moment: a page of rows, and what all pages sum to.
 * @param asked the rows, and what sums them where somebody keeps that sum
 * @throws ServiceError not_found to strangers, validation_failed for a cursor that is none
 */
export function readActivityView(
  claims: UserClaims,
  slug: string,
  asked: { rows: ActivityQuery; sums: MetricsQuery | undefined },
) {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    return {
      list: await loadActivity(client, id, asked.rows, now),
      totals: asked.sums && (await loadTotals(client, id, asked.sums, now)),
    };
  });
}
