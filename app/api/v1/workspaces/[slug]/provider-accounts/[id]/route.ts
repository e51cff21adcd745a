import { deleteAccount } from "@/lib/bills/pulls/accounts";
import {
  providerAccount,
  providerAccountParams,
  removeProviderAccountQuery,
} from "@/lib/contract/bills/provider-accounts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Remove a provider account",
    description:
      "For admins. Deletes its key, and ends its pulls. What it billed stays, as bills that can be deleted, or is deleted with it (`bills=delete`). Where the provider sends its telemetry here, that ends first: its destination there is removed, or left (`destination=leave`), and its key is revoked.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    query: removeProviderAccountQuery,
    response: providerAccount,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, query }) => deleteAccount(principal.claims, params.slug, params.id, query),
  }),
});
