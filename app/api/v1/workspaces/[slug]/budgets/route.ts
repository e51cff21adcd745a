import { workspaceParams } from "@/lib/contract/access/workspace";
import { budget, budgetList, createBudgetRequest } from "@/lib/contract/spend/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { createBudget, listBudgets } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's budgets",
    description: "Each with the live spend of its present period, its forecast, and whom it warns.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: budgetList,
    errors: ["not_found"],
    run: ({ principal, params }) => listBudgets(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Set a budget",
    description:
      "For all spend, or for one project, feature, provider, model, key, user or tag, per day, week, month, quarter or year of its time zone. For admins. Several budgets may have the same scope. A name that no cost has yet is refused, unless `allow_unknown_scope` is true.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: createBudgetRequest,
    response: budget,
    status: 201,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => createBudget(principal.claims, params.slug, body),
  }),
});
