import { removeLimit } from "@/lib/bills/limits/service";
import {
  providerLimit,
  providerLimitParams,
  unlinkProviderLimitQuery,
} from "@/lib/contract/bills/provider-limits";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  DELETE: endpoint({
    summary: "Unlink a limit at a provider",
    description:
      "For admins. The budget's limit is no longer written there. The limit at the provider stays as it is, or with `limit=remove` is removed in the background; until that is done, the list has it with the state `removing`.",
    auth: "user",
    role: "admin",
    params: providerLimitParams,
    query: unlinkProviderLimitQuery,
    response: providerLimit,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, query }) =>
      removeLimit(principal.claims, params.slug, params.id, query.limit === "remove"),
  }),
});
