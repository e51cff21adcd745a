import { apiKeyParams, apiKeyWithSecret } from "@/lib/contract/access/api-keys";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { rotateApiKey } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Rotate an API key",
    description:
      "Replaces the key's secret. The new one is shown only in this answer; the old one is refused at once. Everything else stays. If two rotations happen at once, the secret with the later `rotated_at` is valid.",
    auth: "user",
    role: "member",
    params: apiKeyParams,
    response: apiKeyWithSecret,
    errors: ["not_found", "permission_denied", "conflict", "rate_limited"],
    run: ({ principal, params }) => rotateApiKey(principal.claims, params.slug, params.id),
  }),
});
