import { workspaceParams } from "@/lib/contract/access/workspace";
import { metrics, metricsQuery } from "@/lib/contract/spend/metrics";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readMetricsTag, tagOf } from "@/lib/spend/metrics/tag";
import { readSpendView } from "@/lib/spend/views/spend";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read spend",
    description:
      "Totals with the previous period's, a series over time, and breakdowns. All are read in one snapshot: every series and breakdown sums exactly to the total. The `ETag` changes when a cost is recorded, voided or priced in the range: send it as `If-None-Match`, and while the figures are the same, the answer is 304.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: metricsQuery,
    response: metrics,
    errors: ["not_found"],
    tag: ({ principal, params, query }) => readMetricsTag(principal.claims, params.slug, query),
    run: async ({ principal, params, query, headers }) => {
      const { metrics: answer, now } = await readSpendView(principal.claims, params.slug, query);
      headers.ETag = tagOf(answer, now);
      return answer;
    },
  }),
});
