import {
  budgetRequest,
  budgetRequestParams,
  decideBudgetRequest,
} from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { decide } from "@/lib/spend/budget-requests/decide";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Decide a budget request",
    description:
      "Approves it, in whole or in part, or denies it: once, by an owner or admin of the workspace, by the budget's owner within what the budget sets, or by the member who made the key up to half above its usual limit, and never by its author. An approval raises the limit at once, and the raise ends by itself after its last day. The author of the request is notified.",
    auth: "user",
    role: "viewer",
    params: budgetRequestParams,
    body: decideBudgetRequest,
    response: budgetRequest,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => decide(principal.claims, params.slug, params.id, body),
  }),
});
