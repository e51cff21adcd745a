import { workspaceParams } from "@/lib/contract/access/workspace";
import { bulkAction, bulkActionRequest } from "@/lib/contract/spend/bulk-actions";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { changeMany } from "@/lib/spend/activity/bulk";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Void or correct many costs",
    description:
      "Voids up to 1,000 messages, moves them to another project, changes their feature or tags, or multiplies their amounts: all of them or none, with one entry in the audit log. As with one message, each is voided, and a correction recorded in its place with everything else as it was: its key, day, person, price and amount. Owners and admins can change any message; members those that they recorded by hand, from a file or with an assistant. `dry_run` answers what sums, budgets and alerts would do. An action can be undone for ten minutes.",
    auth: "user",
    role: "member",
    params: workspaceParams,
    body: bulkActionRequest,
    response: bulkAction,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict", "idempotency_conflict", "budget_exceeded"],
    run: async ({ principal, params, body, headers }) => {
      const { result, replayed } = await changeMany(principal.claims, params.slug, body);
      if (replayed) headers["Idempotent-Replayed"] = "true";
      return result;
    },
  }),
});
