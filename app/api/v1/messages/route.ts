import { ingestResult } from "@/lib/contract/ledger/ingest-result";
import { ingestQuery, ingestRequest } from "@/lib/contract/ledger/message";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { rateHeaders } from "@/lib/http/reply";
import { acceptedOne } from "@/lib/ledger/ingest/call";
import { ingest } from "@/lib/ledger/ingest/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Record a cost",
    description:
      "Records one cost message and answers what it cost. The answer is sent once the message is stored. With an `idempotency_key` in the body, or an `Idempotency-Key` header, a retry is answered as the first request was and records nothing.",
    auth: "ingest",
    permission:
      "log_usage for usage, batch and allocation; add_expenses for expense; manage_subscriptions for subscription",
    query: ingestQuery,
    body: ingestRequest,
    response: ingestResult,
    status: 201,
    errors: [
      "monthly_limit_exceeded",
      "budget_exceeded",
      "project_not_allowed",
      "feature_not_allowed",
      "source_not_allowed",
      "idempotency_conflict",
      "unavailable",
    ],
    run: async ({ request, headers, caller, body, query }) => {
      const { outcome, rate } = await ingest({
        body,
        dryRun: query?.dry_run ?? false,
        idempotencyHeader: request.headers.get("idempotency-key"),
        lookup: caller.lookup,
        address: caller.address,
      });
      Object.assign(headers, rateHeaders(rate));
      const { result, replayed } = acceptedOne(outcome);
      if (replayed) headers["Idempotent-Replayed"] = "true";
      return result;
    },
  }),
});
