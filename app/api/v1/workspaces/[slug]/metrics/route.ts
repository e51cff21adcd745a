import { workspaceParams } from "@/lib/contract/access/workspace";
import { metrics, metricsQuery } from "@/lib/contract/spend/metrics";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readMetricsTag, readTaggedMetrics } from "@/lib/spend/metrics/tag";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read spend",
    description:
      "Totals with the previous period's, a series over time, and breakdowns. All are read in one snapshot: every series and breakdown sums exactly to the total. The `ETag` changes when a cost is recorded, voided or priced in the range or the days compared with: send it as `If-None-Match`, and while the figures are the same, the answer is 304.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: metricsQuery,
    response: metrics,
    errors: ["not_found"],
    tag: ({ principal, params, query }) => readMetricsTag(principal.claims, params.slug, query),
    run: async ({ principal, params, query, headers }) => {
      const { metrics: answer, tag } = await readTaggedMetrics(principal.claims, params.slug, query);
      headers.ETag = tag;
      return answer;
    },
  }),
});
