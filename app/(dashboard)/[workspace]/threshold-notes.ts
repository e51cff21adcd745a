import { listCrossings } from "@/lib/alerts/log/crossings";
import type { Metrics } from "@/lib/contract/spend/metrics";

/**
 * The thresholds that were reached of budgets for just what a chart shows, as notes for its bars: budgets of all spend, or of
 * one project. None for test data, which budgets do not count, nor where budgets were above them when they were set.
 * @param shown what the chart is limited to; `project`: a slug
 */
export async function readThresholdNotes(
  claims: Parameters<typeof listCrossings>[0],
  slug: string,
  { series: { points } }: Metrics,
  { environment = "live", project }: { environment?: string | undefined; project?: string | undefined },
): Promise<{ at: string; text: string }[]> {
  const first = points[0]?.from;
  if (environment !== "live" || first === undefined) return [];
  const crossings = await listCrossings(claims, slug, first);
  return crossings
    .filter(({ scope_type: type, scope_value: value, was_above: wasAbove }) => {
      const isShown = project === undefined ? type === "global" : type === "project" && value === project;
      return isShown && !wasAbove;
    })
    .map(({ at, title }) => ({ at, text: title }))
    .reverse();
}
