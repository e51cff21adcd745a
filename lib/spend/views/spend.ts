import { requireMembership } from "@/lib/access/workspaces/membership";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadMetrics } from "@/lib/spend/metrics/service";

/**
 * Figures of a workspace with the moment that they are of, read in one snapshot.
 * @returns the content; `now`: what the workspace's clock shows at the snapshot's time; see `Clock.now`
 * @throws ServiceError not_found
 */
export function readSpendView(claims: UserClaims, slug: string, query: MetricsQuery) {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    return { now: clock.now, metrics: await loadMetrics(client, id, query, clock) };
  });
}
