import { apiKeyList, apiKeyWithSecret, createApiKeyRequest } from "@/lib/contract/api-keys";
import { workspaceParams } from "@/lib/contract/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { createApiKey, listApiKeys } from "@/lib/keys/management/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List a workspace's API keys",
    description:
      "With what each has recorded in this UTC month, its limit, and when it was last used. Never its secret.",
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
      "The secret is in this answer and never again. A key can do no more than whoever makes it; every project that it names must exist.",
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
