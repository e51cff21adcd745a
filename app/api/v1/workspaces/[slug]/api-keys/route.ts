import { apiKeyList, apiKeyWithSecret, createApiKeyRequest } from "@/lib/contract/access/api-keys";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { createApiKey, listApiKeys } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's API keys",
    description:
      "Each key with its spend in this UTC month, its limit, and when it was last used. Secrets are never included.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: apiKeyList,
    errors: ["not_found"],
    run: ({ principal, params }) => listApiKeys(principal.claims, params.slug),
  }),
  POST: endpoint({
    summary: "Make an API key",
    description:
      "The secret is shown only in this answer. A key can do no more than its creator's role. A `project_id` must exist; slugs in its lists need not.",
    auth: "user",
    role: "member",
    params: workspaceParams,
    body: createApiKeyRequest,
    response: apiKeyWithSecret,
    status: 201,
    errors: ["not_found", "permission_denied", "rate_limited"],
    run: ({ principal, params, body }) => createApiKey(principal.claims, params.slug, body),
  }),
});
