import { requireMembership } from "@/lib/access/workspaces/membership";
import type { ActivityQuery } from "@/lib/contract/spend/activity";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import type { SessionsQuery } from "@/lib/contract/spend/sessions";
import { clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadActivity } from "@/lib/spend/activity/service";
import { loadSessions } from "@/lib/spend/activity/sessions";
import { loadTotals } from "@/lib/spend/metrics/totals";

/**
 * Reads the content of the activity page in one snapshot: a page of rows, and the totals of all pages.
 * @param asked.sums the query of the totals; undefined to read none
 * @param asked.session the query of the rows' session; undefined if they are not of one session
 * @throws ServiceError not_found, validation_failed for an invalid cursor
 */
export function readActivityView(
  claims: UserClaims,
  slug: string,
  asked: { rows: ActivityQuery; sums: MetricsQuery | undefined; session?: SessionsQuery | undefined },
) {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, now);
    return {
      list: await loadActivity(client, id, asked.rows, clock),
      totals: asked.sums && (await loadTotals(client, id, asked.sums, clock)),
      session: asked.session && (await loadSessions(client, id, asked.session, clock)).sessions[0],
    };
  });
}
