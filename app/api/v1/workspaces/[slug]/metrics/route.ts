import { metrics, metricsQuery } from "@/lib/contract/metrics";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readMetrics } from "@/lib/spend/metrics/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read what was spent",
    description:
      "Totals with the previous period's, a series over time, and breakdowns. All are read in one snapshot: every series and breakdown sums exactly to the total.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: metricsQuery,
    response: metrics,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readMetrics(principal.claims, params.slug, query),
  }),
});
