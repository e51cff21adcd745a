import { listCrossings } from "@/lib/alerts/log/crossings";
import type { Membership } from "@/lib/contract/access/me";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";

/**
 * The reached thresholds of budgets whose scope is exactly what a chart shows (all spend, or one project), as notes for its bars.
 * There are none for test data, which budgets do not count, and none for thresholds that spend had exceeded when the budget was set.
 * @param shown the filter of the chart; `project`: a slug
 */
export async function readThresholdNotes(
  claims: Parameters<typeof listCrossings>[0],
  { slug, time_zone: timeZone }: Membership,
  { series: { points } }: Metrics,
  { environment = "live", project }: { environment?: string | undefined; project?: string | undefined },
): Promise<{ day: string; text: string }[]> {
  const first = points[0]?.from;
  if (environment !== "live" || first === undefined) return [];
  const crossings = await listCrossings(claims, slug, first);
  return crossings
    .filter(({ scope_type: type, scope_value: value, was_above: wasAbove }) => {
      const isShown = project === undefined ? type === "global" : type === "project" && value === project;
      return isShown && !wasAbove;
    })
    .map(({ at, title }) => ({ day: dayOf(clockOf(timeZone, Date.parse(at)).now), text: title }))
    .reverse();
}
