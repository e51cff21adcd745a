import { budget, budgetList, createBudgetRequest } from "@/lib/contract/budgets";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { createBudget, listBudgets } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's budgets",
    description: "Each with the live spend of this UTC month, and where it is heading.",
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
      "Of all spend, or of one project, feature, provider or key, a UTC month. For admins. Several may be of the same thing.",
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
