import { workspaceParams } from "@/lib/contract/access/workspace";
import { spendAnswer, spendQuery } from "@/lib/contract/spend/spend-query";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { querySpend } from "@/lib/spend/explore/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Query spend",
    description:
      "Spend grouped by at most two dimensions, as rows, columns and cells, in one snapshot. It changes nothing.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    body: spendQuery,
    response: spendAnswer,
    errors: ["not_found", "query_too_broad"],
    run: ({ principal, params, body }) => querySpend(principal.claims, params.slug, body),
  }),
});
