import { budget, budgetParams, editBudgetRequest } from "@/lib/contract/spend/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { editBudget, readBudget, removeBudget } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read a budget",
    description: "One budget with this month's spend, what remains, and the forecast.",
    auth: "user",
    role: "viewer",
    params: budgetParams,
    response: budget,
    errors: ["not_found"],
    run: ({ principal, params }) => readBudget(principal.claims, params.slug, params.id),
  }),
  PATCH: endpoint({
    summary: "Change a budget",
    description: "Changes its name, amount and other settings, for admins. Omitted fields stay unchanged.",
    auth: "user",
    role: "admin",
    params: budgetParams,
    body: editBudgetRequest,
    response: budget,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => editBudget(principal.claims, params.slug, params.id, body),
  }),
  DELETE: endpoint({
    summary: "Delete a budget",
    description: "For admins. Answers the deleted budget. Spend is not affected.",
    auth: "user",
    role: "admin",
    params: budgetParams,
    response: budget,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => removeBudget(principal.claims, params.slug, params.id),
  }),
});
