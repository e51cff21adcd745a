import { pullNow } from "@/lib/bills/pulls/accounts";
import { providerAccount, providerAccountParams, pullRequest } from "@/lib/contract/bills/provider-accounts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Pull a provider account",
    description:
      "For admins. Has the costs pulled now, in the background; `is_pulling` is false when it has ended. `accept_jump` stores what is held.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    body: pullRequest,
    response: providerAccount,
    status: 202,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => pullNow(principal.claims, params.slug, params.id, body.accept_jump),
  }),
});
