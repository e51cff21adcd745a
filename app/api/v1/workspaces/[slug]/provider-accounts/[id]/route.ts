import { deleteAccount } from "@/lib/bills/pulls/accounts";
import { providerAccount, providerAccountParams } from "@/lib/contract/bills/provider-accounts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Remove a provider account",
    description:
      "For admins. Deletes its key, and ends its pulls. What it billed stays, as bills that can be deleted.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    response: providerAccount,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => deleteAccount(principal.claims, params.slug, params.id),
  }),
});
