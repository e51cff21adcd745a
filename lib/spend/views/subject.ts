import { requireMembership } from "@/lib/access/workspaces/membership";
import { activityQuery } from "@/lib/contract/spend/activity";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import type { Subject } from "@/lib/contract/spend/subjects";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadActivity } from "@/lib/spend/activity/service";
import { loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { loadChanges } from "@/lib/spend/changes/service";
import { loadMetrics } from "@/lib/spend/metrics/service";
import { loadProjectSlugs } from "@/lib/spend/projects/service";

/** The latest rows that a subject's page shows. Its activity has all. */
const shownRows = 8;

/**
 * Reads the content of the page of a project, a person, a key, a model, a feature or a tag in one snapshot: its figures, why they
 * differ from those of the days compared with (undefined if nothing is compared), the budgets with exactly this scope, its latest
 * rows, and the slugs of all projects in order of creation.
 * @returns the content; `now`: what the workspace's clock shows at the snapshot's time; see `Clock.now`
 * @throws ServiceError not_found
 */
export function readSubject(
  claims: UserClaims,
  slug: string,
  { dimension, value }: Subject,
  query: MetricsQuery,
) {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    const { environment, group_by: _, compare: __, compare_from: ___, compare_to: ____, ...days } = query;
    const filters = { [dimension]: value };
    const rows = activityQuery.parse({ limit: shownRows });
    const budgets = await loadFullBudgets(client, id);
    return {
      now: clock.now,
      metrics: await loadMetrics(client, id, { ...query, ...filters }, clock),
      changes: await loadChanges(client, { workspaceId: id, environment, filters }, query, clock),
      budgets: budgets.filter(({ scope }) => scope.type === dimension && scope.value === value),
      latest: await loadActivity(client, id, { ...rows, ...days, ...filters, environment }, clock),
      projectOrder: await loadProjectSlugs(client, id),
    };
  });
}
