import { readReconciliationOfKey } from "@/lib/bills/reconciliation";
import { reconciliation, reconciliationQuery } from "@/lib/contract/bills/reconciliation";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Reconcile records with bills",
    description:
      "What providers billed beside what was recorded, by month, and with `month` why that month differs. Bills are of all projects and people, so a key of some projects or users, or of the test environment, sees none.",
    auth: "key",
    permission: "read_summaries",
    query: reconciliationQuery,
    response: reconciliation,
    run: ({ principal, query }) => readReconciliationOfKey(principal.claims, query.month),
  }),
});
