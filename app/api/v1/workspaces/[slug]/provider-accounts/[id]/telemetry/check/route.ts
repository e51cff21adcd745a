import { checkTelemetry } from "@/lib/bills/telemetry/service";
import { providerAccount, providerAccountParams } from "@/lib/contract/bills/provider-accounts";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Check a provider's telemetry",
    description:
      "For admins. Reads how the destination is at the provider, and has a test sent where the provider can; Anthropic allows one in ten seconds.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    response: providerAccount,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params }) => checkTelemetry(principal.claims, params.slug, params.id),
  }),
});
