import { reservation, reservationRequest } from "@/lib/contract/ledger/reservations";
import { accepted } from "@/lib/errors";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { rateHeaders } from "@/lib/http/reply";
import { reserve } from "@/lib/ledger/reservations/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Reserve what a call may cost",
    description:
      "Holds an amount before a call of a model is made. It counts at once against the key's monthly limit and the budgets that block, or is refused with what refuses, what is left and when that resets. Send the call's message with `reservation_id` to settle it, delete it where no call was made, or let it end. A key holds at most 1,000 at a time. With an `idempotency_key` in the body, or an `Idempotency-Key` header, a retry within a day is answered as the first request was.",
    auth: "ingest",
    permission: "log_usage",
    body: reservationRequest,
    response: reservation,
    status: 201,
    errors: [
      "monthly_limit_exceeded",
      "budget_exceeded",
      "project_not_allowed",
      "feature_not_allowed",
      "source_not_allowed",
      "idempotency_conflict",
      "conflict",
      "unavailable",
    ],
    run: async ({ request, headers, caller, body }) => {
      const { outcome, rate } = await reserve({
        ...caller,
        body,
        idempotencyHeader: request.headers.get("idempotency-key"),
      });
      Object.assign(headers, rateHeaders(rate));
      const { reservation: reserved, replayed } = accepted(outcome);
      if (replayed) headers["Idempotent-Replayed"] = "true";
      return reserved;
    },
  }),
});
