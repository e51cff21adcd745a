import { requireMembership } from "@/lib/access/workspaces/membership";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { loadChanges } from "@/lib/spend/changes/service";
import { loadTaggedMetrics } from "@/lib/spend/metrics/tag";
import { loadProjectSlugs } from "@/lib/spend/projects/service";

/**
 * Reads the content of the overview in one snapshot: its figures with their tag, why they differ from those of the days compared with
 * (undefined if nothing is compared), the budgets with their live spend, and the slugs of all projects in order of creation.
 * @returns the content; `now`: what the workspace's clock shows at the snapshot's time; see `Clock.now`
 * @throws ServiceError not_found
 */
export function readOverview(claims: UserClaims, slug: string, query: MetricsQuery) {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    const { environment } = query;
    return {
      now: clock.now,
      changes: await loadChanges(client, { workspaceId: id, environment }, query, clock),
      ...(await loadTaggedMetrics(client, id, query, clock)),
      budgets: await loadFullBudgets(client, id),
      projectOrder: await loadProjectSlugs(client, id),
    };
  });
}
