import { resolveLimit } from "@/lib/bills/limits/service";
import {
  providerLimit,
  providerLimitParams,
  resolveProviderLimitRequest,
} from "@/lib/contract/bills/provider-limits";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Check, write or accept a limit at a provider",
    description:
      "For admins. Reads what the provider holds, writes the budget's limit again, or gives the budget the limit that someone has set at the provider. Reading and writing happen in the background; `is_due` is false when they have ended.",
    auth: "user",
    role: "admin",
    params: providerLimitParams,
    body: resolveProviderLimitRequest,
    response: providerLimit,
    status: 202,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => resolveLimit(principal.claims, params.slug, params.id, body.action),
  }),
});
