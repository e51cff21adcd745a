import { bookDifference, listAdjustments } from "@/lib/bills/adjustments";
import { workspaceParams } from "@/lib/contract/access/workspace";
import {
  billAdjustment,
  billAdjustmentList,
  billAdjustmentQuery,
  bookAdjustmentRequest,
} from "@/lib/contract/bills/bill-adjustments";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List adjustments to bills",
    description: "What admins booked of the differences between bills and records, the latest first.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    query: billAdjustmentQuery,
    response: billAdjustmentList,
    errors: ["not_found"],
    run: ({ principal, params, query }) => listAdjustments(principal.claims, params.slug, query.month),
  }),
  POST: endpoint({
    summary: "Book a difference as an adjustment",
    description:
      "For admins. Books what bills and records of a month differ by as costs of the type `bill_adjustment`: a message for each provider, day, model and part, on the day that it belongs to. What belongs to a closed month is booked now, as an adjustment of it. What is booked already is not booked again, so after a bill has changed the rest is booked. Budgets count it and never refuse it. With `dry_run`, nothing is booked, and `effects` says which sums and budgets would change.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: bookAdjustmentRequest,
    response: billAdjustment,
    status: 201,
    errors: ["not_found", "permission_denied", "validation_failed", "conflict"],
    run: ({ principal, params, body }) => bookDifference(principal.claims, params.slug, body),
  }),
});
