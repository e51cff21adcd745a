import { projectSpend, projectSpendParams, projectSpendQuery } from "@/lib/contract/spend/reads";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readProjectSpend } from "@/lib/spend/summaries/project-spend";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "What a project spent",
    description:
      "Totals, breakdowns by model, feature and day, and the latest rows of a range; this month of the workspace by default.",
    auth: "key",
    permission: "read_summaries",
    params: projectSpendParams,
    query: projectSpendQuery,
    response: projectSpend,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readProjectSpend(principal.claims, params.slug, query),
  }),
});
