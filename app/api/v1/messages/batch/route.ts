import { bulkResult } from "@/lib/contract/ledger/ingest-result";
import { bulkRequest, ingestQuery } from "@/lib/contract/ledger/message";
import { accepted } from "@/lib/errors";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { rateHeaders } from "@/lib/http/reply";
import { toBulkResult } from "@/lib/ledger/ingest/bulk-result";
import { ingestBulk } from "@/lib/ledger/ingest/service";
import { countClientCalls } from "@/lib/sources/count-client-calls";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Record many costs",
    description:
      "Records up to 1,000 messages in order and answers a verdict for each: `status` 201 with its result, or the status and error that it would get alone. A refused message does not affect the others. A call charges at most 1,000 past periods of recurring subscriptions; and records at most 20,000 items of batches; those beyond are refused (400) and can be sent in another call. Counts as one request against the key's rate.",
    auth: "ingest",
    permission:
      "log_usage for usage, batch and allocation; add_expenses for expense; manage_subscriptions for subscription",
    query: ingestQuery,
    body: bulkRequest,
    bodyLimitBytes: 8 * 1024 * 1024,
    bodyBudget: { parts: 150_000, partsOfOne: 5_000, depth: 100 },
    response: bulkResult,
    status: 207,
    errors: ["unavailable"],
    run: async ({ request, headers, caller, body, query }) => {
      const {
        outcome,
        rate,
        caller: admitted,
      } = await ingestBulk({
        ...caller,
        body: body instanceof Error ? body : body.messages,
        dryRun: query?.dry_run ?? false,
      });
      Object.assign(headers, rateHeaders(rate));
      const verdicts = accepted(outcome);
      if (request.headers.has("outlay-client") && !query?.dry_run)
        countClientCalls(admitted?.key.id, body instanceof Error ? [] : body.messages, verdicts);
      return toBulkResult(verdicts);
    },
  }),
});
