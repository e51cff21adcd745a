import { requireMembership } from "@/lib/access/workspaces/membership";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadMetrics } from "@/lib/spend/metrics/service";

/**
 * Figures of a workspace with the moment that they are of, read in one snapshot.
 * @returns the content; `now`: the snapshot's time by the database's clock, milliseconds since 1970
 * @throws ServiceError not_found
 */
export function readSpendView(claims: UserClaims, slug: string, query: MetricsQuery) {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    return { now, metrics: await loadMetrics(client, id, query, now) };
  });
}
