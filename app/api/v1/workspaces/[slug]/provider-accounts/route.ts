import { createAccount, listAccounts } from "@/lib/bills/pulls/accounts";
import { workspaceParams } from "@/lib/contract/access/workspace";
import {
  addProviderAccountRequest,
  providerAccount,
  providerAccountList,
} from "@/lib/contract/bills/provider-accounts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List provider accounts",
    description:
      "For admins. The accounts whose costs are pulled every day, with how each stands. Their keys are in no answer.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    response: providerAccountList,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => listAccounts(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Add a provider account",
    description:
      "For admins. From now on the provider's costs are pulled into bills every day, with those that it may have changed since. The key is sealed (AES-256-GCM) and never shown. The first pull begins within seconds; the list says how it ended.",
    auth: "user",
    role: "admin",
    params: workspaceParams,
    body: addProviderAccountRequest,
    response: providerAccount,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => createAccount(principal.claims, params.slug, body),
  }),
});
