import { closedMonthList, closingParams, reopenRequest } from "@/lib/contract/ledger/closed-months";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { reopenClosedMonth } from "@/lib/ledger/closing/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Reopen a closed month",
    description:
      "For admins: reopens the last closed month, with a reason for the audit log. Costs of it are booked in it again. Adjustments that were booked since stay where they are, and the filed export stays as it was.",
    auth: "user",
    role: "admin",
    params: closingParams,
    body: reopenRequest,
    response: closedMonthList,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => reopenClosedMonth(principal.claims, params.slug, params.id, body),
  }),
});
