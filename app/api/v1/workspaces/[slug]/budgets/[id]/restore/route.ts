import { budget, budgetParams } from "@/lib/contract/spend/budgets";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { restoreBudget } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Restore a budget",
    description:
      "For admins. Within ten minutes after it was deleted. The budget keeps its id and its former periods, and counts what was spent since.",
    auth: "user",
    role: "admin",
    params: budgetParams,
    response: budget,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => restoreBudget(principal.claims, params.slug, params.id),
  }),
});
