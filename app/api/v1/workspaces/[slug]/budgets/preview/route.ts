import { workspaceParams } from "@/lib/contract/access/workspace";
import { budgetPreview, createBudgetRequest } from "@/lib/contract/spend/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { previewBudget } from "@/lib/spend/budgets/preview";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Preview a budget",
    description:
      "What a budget would show if it were set now, when it would have warned, and what it would refuse. Takes the same body as setting one, and changes nothing. For admins.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: createBudgetRequest,
    response: budgetPreview,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => previewBudget(principal.claims, params.slug, body),
  }),
});
