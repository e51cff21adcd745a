import { readReconciliation } from "@/lib/bills/reconciliation";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { reconciliation, reconciliationQuery } from "@/lib/contract/bills/reconciliation";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Reconcile records with bills",
    description:
      "Holds what providers billed against what was recorded live, by UTC day: each month with a bill, and with `month` why that month differs. The parts of a difference sum to it exactly, for the month, each provider, and each period and model. Where a bill names people, `users` divides its amounts by person. What neither the bill nor the records decide is `unexplained`. An adjustment of a closed month is compared on the day when its cost occurred.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: reconciliationQuery,
    response: reconciliation,
    errors: ["not_found"],
    run: ({ principal, params, query }) => readReconciliation(principal.claims, params.slug, query.month),
  }),
});
