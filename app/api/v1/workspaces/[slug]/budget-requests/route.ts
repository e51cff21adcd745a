import { workspaceParams } from "@/lib/contract/access/workspace";
import { askForBudget, budgetRequest, budgetRequestList } from "@/lib/contract/spend/budget-requests";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { askAsMember } from "@/lib/spend/budget-requests/ask";
import { listRequests } from "@/lib/spend/budget-requests/list";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's budget requests",
    description: "Who asked for more of which budget or of which key's limit, and how it was decided.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: budgetRequestList,
    errors: ["not_found"],
    run: ({ principal, params }) => listRequests(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Ask for more of a budget or of a key's limit as a member",
    description:
      "Notifies the budget's owner and those whom it warns; of a key's monthly limit, the member who made the key and the channels that get alerts about limits of keys. Where nobody of them can decide, the workspace's owners and admins. One pending request a limit and member.",
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
