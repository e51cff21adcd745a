import { budget, budgetParams, editBudgetRequest } from "@/lib/contract/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { editBudget, readBudget, removeBudget } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read a budget",
    description:
      "One budget with what is spent of it this month, what remains, and where the month is heading.",
    auth: "user",
    role: "viewer",
    params: budgetParams,
    response: budget,
    errors: ["not_found"],
    run: ({ principal, params }) => readBudget(principal.claims, params.slug, params.id),
  }),
  PATCH: endpoint({
    summary: "Change a budget",
    description: "Its name and its amount, for admins; what is left out stays.",
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
    description: "For admins. Answers it as it was; what was spent stays.",
    auth: "user",
    role: "admin",
    params: budgetParams,
    response: budget,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => removeBudget(principal.claims, params.slug, params.id),
  }),
});
