import { workspaceParams } from "@/lib/contract/access/workspace";
import { bulkResult } from "@/lib/contract/ledger/ingest-result";
import { bulkRequest, recordQuery } from "@/lib/contract/ledger/message";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { recordByHand } from "@/lib/ledger/ingest/by-hand";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Record costs as a member",
    description:
      "Like the bulk route for keys: up to 1,000 messages in order with a verdict for each, with the source `manual` or `import`, attributed to the member who sends them.",
    auth: "user",
    role: "member",
    params: workspaceParams,
    query: recordQuery,
    body: bulkRequest,
    bodyLimitBytes: 8 * 1024 * 1024,
    response: bulkResult,
    status: 207,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, query, body }) =>
      recordByHand(principal.claims, params.slug, {
        messages: body.messages,
        environment: query.environment,
        dryRun: query.dry_run,
      }),
  }),
});
