import { keySpendQuery, spendAnswer } from "@/lib/contract/spend/spend-query";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { querySpendAsKey } from "@/lib/spend/explore/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Query spend",
    description:
      "Spend that the key may read, grouped by at most two dimensions, as rows, columns and cells. It changes nothing.",
    auth: "key",
    permission: "read_summaries",
    body: keySpendQuery,
    response: spendAnswer,
    errors: ["query_too_broad"],
    run: ({ principal, body }) => querySpendAsKey(principal.claims, body),
  }),
});
