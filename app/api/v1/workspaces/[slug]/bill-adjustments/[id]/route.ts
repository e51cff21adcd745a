import { undoBooking } from "@/lib/bills/adjustments";
import { billAdjustment, billAdjustmentParams } from "@/lib/contract/bills/bill-adjustments";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Undo an adjustment to a bill",
    description:
      "For admins. Voids what was booked, so that every sum is as if it had not been: on the days of an open month, and of a closed one now. An adjustment that was undone before stays undone.",
    auth: "user",
    role: "admin",
    params: billAdjustmentParams,
    response: billAdjustment,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => undoBooking(principal.claims, params.slug, params.id),
  }),
});
