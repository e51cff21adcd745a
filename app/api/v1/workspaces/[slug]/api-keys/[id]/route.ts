import { apiKey, apiKeyParams, editApiKeyRequest } from "@/lib/contract/api-keys";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { editApiKey, revokeApiKey } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Edit an API key",
    description:
      "Everything but its id, secret and environment; the secret stays as it is. A merge patch: what is left out stays, null clears, a list is replaced. It holds for the very next request made with the key. Members edit the keys they made, admins all.",
    auth: "user",
    role: "member",
    params: apiKeyParams,
    body: editApiKeyRequest,
    response: apiKey,
    errors: ["not_found", "permission_denied", "conflict"],
    run: ({ principal, params, body }) => editApiKey(principal.claims, params.slug, params.id, body),
  }),
  DELETE: endpoint({
    summary: "Revoke an API key",
    description:
      "For good: its very next request is refused. It stays in the list as revoked. Members revoke the keys they made, admins all; once more changes nothing.",
    auth: "user",
    role: "member",
    params: apiKeyParams,
    response: apiKey,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => revokeApiKey(principal.claims, params.slug, params.id),
  }),
});
