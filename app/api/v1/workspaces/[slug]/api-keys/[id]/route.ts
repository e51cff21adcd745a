import { apiKey, apiKeyParams, editApiKeyRequest } from "@/lib/contract/access/api-keys";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { editApiKey, revokeApiKey } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Edit an API key",
    description:
      "Changes everything except id, secret and environment. A merge patch: fields that are left out stay, null clears, a list is replaced. It applies from the key's next request on. Members edit the keys they made, admins all.",
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
      "Permanent: the key's next request is refused. It stays in the list as revoked, and a second call changes nothing. Members revoke the keys they made, admins all.",
    auth: "user",
    role: "member",
    params: apiKeyParams,
    response: apiKey,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params }) => revokeApiKey(principal.claims, params.slug, params.id),
  }),
});
