import { exportReconciliation } from "@/lib/bills/reconciliation-export";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { reconciliationExportQuery } from "@/lib/contract/bills/reconciliation";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { StreamedBody, streamed } from "@/lib/http/streamed";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Export the reconciliation of a month",
    description:
      "What was billed, recorded and booked as adjustments in a month, as CSV: a row `line` for each provider, period and model with the parts of its difference, `provider` with their sums, `user` for each person at the providers whose bills name people, and `month` with the sums of all and, where the month is closed, the SHA-256 of its filed export.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: reconciliationExportQuery,
    response: streamed("text/csv; charset=utf-8", "RFC 4180, with a header."),
    errors: ["not_found"],
    run: async ({ principal, params, query }) => {
      const { text, fileName } = await exportReconciliation(principal.claims, params.slug, query.month);
      return new StreamedBody(once(text), fileName);
    },
  }),
});

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
