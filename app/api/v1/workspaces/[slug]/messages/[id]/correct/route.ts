import { correctRequest, messageVoid } from "@/lib/contract/ledger/corrections";
import { messageParams } from "@/lib/contract/spend/message-detail";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { correctMessage } from "@/lib/ledger/corrections/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Correct a cost",
    description:
      "Voids a message and records another in its place, both or neither. The new one counts for the key, source and environment of the first, and is priced at today's prices. The same members may do it as for voiding, and retries are answered in the same way.",
    auth: "user",
    role: "member",
    params: messageParams,
    body: correctRequest,
    response: messageVoid,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict", "idempotency_conflict", "budget_exceeded"],
    run: async ({ principal, params, body, headers }) => {
      const { result, replayed } = await correctMessage(principal.claims, params.slug, params.id, body);
      if (replayed) headers["Idempotent-Replayed"] = "true";
      return result;
    },
  }),
});
