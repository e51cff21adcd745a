import { endRegistration, registerTelemetry } from "@/lib/bills/telemetry/service";
import { providerAccount, providerAccountParams } from "@/lib/contract/bills/provider-accounts";
import { registerTelemetryRequest, removeTelemetryQuery } from "@/lib/contract/bills/provider-telemetry";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Have a provider send its telemetry",
    description:
      "For admins. Of Anthropic and OpenRouter, makes a source with a key of its own, registers its address and key at the provider, for all calls without their content, and has a test sent where the provider can. `telemetry` of the answer says how that ended, in the provider's own words where it refused. The service needs a public https address (`BASE_URL`).",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    body: registerTelemetryRequest,
    response: providerAccount,
    status: 201,
    errors: ["not_found", "permission_denied", "conflict", "rate_limited"],
    run: ({ principal, params, body }) => registerTelemetry(principal.claims, params.slug, params.id, body),
  }),
  DELETE: endpoint({
    summary: "End a provider's telemetry",
    description:
      "For admins. Removes the destination at the provider, and revokes the key of its source. What was recorded stays.",
    auth: "user",
    role: "admin",
    params: providerAccountParams,
    query: removeTelemetryQuery,
    response: providerAccount,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, query }) =>
      endRegistration(principal.claims, params.slug, params.id, query.destination),
  }),
});
