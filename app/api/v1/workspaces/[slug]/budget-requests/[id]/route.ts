import { budgetRequest, budgetRequestParams } from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { withdraw } from "@/lib/spend/budget-requests/decide";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Withdraw a budget request",
    description:
      "Your own, or one of a key that you made, while it is pending. Answers the withdrawn request.",
    auth: "user",
    role: "viewer",
    params: budgetRequestParams,
    response: budgetRequest,
    errors: ["not_found", "conflict"],
    run: ({ principal, params }) => withdraw(principal.claims, params.slug, params.id),
  }),
});
