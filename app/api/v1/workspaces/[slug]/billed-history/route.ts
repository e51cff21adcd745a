import { readHistoryAnswer } from "@/lib/bills/history";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { billedHistory, billedHistoryQuery } from "@/lib/contract/bills/billed-history";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read billed history",
    description:
      "What providers billed on days of which nothing was recorded of them, such as those before the first message: added to what was recorded, it gives every day once. It is read from bills of single days, and no metrics, budgets or limits have it. A day of a provider is left out where a call, a cost or an adjustment of it was recorded on the day, or an expense or a subscription of it in the month.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: billedHistoryQuery,
    response: billedHistory,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readHistoryAnswer(principal.claims, params.slug, query),
  }),
});
