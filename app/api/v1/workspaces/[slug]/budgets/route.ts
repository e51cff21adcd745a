import { workspaceParams } from "@/lib/contract/access/workspace";
import { budget, budgetList, createBudgetRequest } from "@/lib/contract/spend/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { createBudget, listBudgets } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's budgets",
    description: "Each with its live spend in its present period and its forecast.",
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
      "For all spend, or for one project, feature, provider or key, per period of its time zone. For admins. Several budgets may have the same scope.",
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
