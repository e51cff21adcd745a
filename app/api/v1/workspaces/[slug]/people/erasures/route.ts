import { workspaceParams } from "@/lib/contract/access/workspace";
import { eraseRequest, erasure, erasureList } from "@/lib/contract/spend/people";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { erasePerson, listErasures } from "@/lib/ledger/erasure/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List erasures of people",
    description: "The erasures with their progress, for admins, without the erased names.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: erasureList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => listErasures(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Erase a person",
    description:
      "For admins. Replaces the name of a person (`user` of usage) with a random pseudonym in messages, sums, kept requests of idempotency keys, budgets, conditions of keys and the audit log. Amounts stay, and sums agree at any moment. The service does it in the background, and forgets the name with the last step. Stop sending the name first: usage that names the person later is recorded with the name.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: eraseRequest,
    response: erasure,
    status: 202,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => erasePerson(principal.claims, params.slug, body),
  }),
});
