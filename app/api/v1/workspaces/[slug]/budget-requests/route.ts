import { workspaceParams } from "@/lib/contract/access/workspace";
import { askForBudget, budgetRequest, budgetRequestList } from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { askAsMember, listRequests } from "@/lib/spend/budget-requests/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's budget requests",
    description: "Who asked for more of which budget, and how it was decided.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: budgetRequestList,
    errors: ["not_found"],
    run: ({ principal, params }) => listRequests(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Ask for more of a budget as a member",
    description:
      "The budget's owner and those whom it warns are notified; where nobody of them can decide, the workspace's owners and admins. One pending request a budget and member.",
    auth: "user",
    role: "member",
    params: workspaceParams,
    body: askForBudget,
    response: budgetRequest,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => askAsMember(principal.claims, params.slug, body),
  }),
});
