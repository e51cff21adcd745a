import { budgetStatus } from "@/lib/contract/spend/reads";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readBudgetStatus } from "@/lib/spend/budgets/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Do the budgets hold?",
    description:
      "Each budget of the key's workspace whose whole spend the key may read, in its present period. `hidden_count` says how many others there are.",
    auth: "key",
    permission: "read_summaries",
    response: budgetStatus,
    run: ({ principal }) => readBudgetStatus(principal.claims),
  }),
});
