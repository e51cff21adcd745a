import { addBillFile, listBills } from "@/lib/bills/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { addBillRequest, addedBill, billList } from "@/lib/contract/bills/bills";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List bills",
    description: "What providers billed, as far as it was added: each file with what counts of it.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: billList,
    errors: ["not_found"],
    run: ({ principal, params }) => listBills(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Add a bill",
    description:
      "For admins. Adds an invoice or a cost export as CSV or Parquet, or a FOCUS file. A bill is held against what was recorded, and is not spend itself. It states the days that it names as a whole: of a provider and account, the last bill of a day counts, and what earlier ones said of it is kept but not summed. Rows with the same day, line, model, unit, tier and key are one. `dry_run` answers what a file says without keeping it.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: addBillRequest,
    bodyLimitBytes: 16 * 1024 * 1024,
    response: addedBill,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => addBillFile(principal.claims, params.slug, body),
  }),
});
