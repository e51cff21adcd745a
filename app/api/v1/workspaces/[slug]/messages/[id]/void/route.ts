import { messageVoid, voidRequest } from "@/lib/contract/ledger/corrections";
import { messageParams } from "@/lib/contract/spend/message-detail";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { voidMessage } from "@/lib/ledger/corrections/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Void a cost",
    description:
      "Posts the entries of a message again with the opposite amounts, so that totals, budgets, keys' spend and exports are as if it had not been recorded. The message stays, and names its void. Owners and admins can void any message; members can void messages that they recorded by hand, from a file or with an assistant. A message can be voided once: a second request gets a 409, and a retry with the same `idempotency_key` gets the first answer. A void cannot be voided.",
    auth: "user",
    role: "member",
    params: messageParams,
    body: voidRequest,
    response: messageVoid,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict", "idempotency_conflict", "budget_exceeded"],
    run: async ({ principal, params, body, headers }) => {
      const { result, replayed } = await voidMessage(principal.claims, params.slug, params.id, body);
      if (replayed) headers["Idempotent-Replayed"] = "true";
      return result;
    },
  }),
});
