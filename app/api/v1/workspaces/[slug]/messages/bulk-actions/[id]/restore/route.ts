import { bulkAction, bulkActionParams } from "@/lib/contract/spend/bulk-actions";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { undoMany } from "@/lib/ledger/corrections/bulk";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Undo a change of many costs",
    description:
      "Within ten minutes, for admins and for the member whose action it was. Corrections are voided, and what was voided is recorded again with new ids, so that every sum is as it was before. Not where one of the messages was changed since.",
    auth: "user",
    role: "member",
    params: bulkActionParams,
    response: bulkAction,
    errors: ["not_found", "permission_denied", "conflict", "budget_exceeded"],
    run: ({ principal, params }) => undoMany(principal.claims, params.slug, params.id),
  }),
});
