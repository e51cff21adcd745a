import { apiKeyParams, apiKeyWithSecret } from "@/lib/contract/api-keys";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { rotateApiKey } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  POST: endpoint({
    summary: "Rotate an API key",
    description:
      "Gives it a new secret, which is in this answer and never again. The one before is refused at once; everything else stays. Of two rotations at once, the secret with the later `rotated_at` lives.",
    auth: "user",
    role: "member",
    params: apiKeyParams,
    response: apiKeyWithSecret,
    errors: ["not_found", "permission_denied", "conflict", "rate_limited"],
    run: ({ principal, params }) => rotateApiKey(principal.claims, params.slug, params.id),
  }),
});
