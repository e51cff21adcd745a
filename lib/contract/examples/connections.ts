import type { ExampleSet } from "./example-set";

const id = "0193a1c2-70aa-7c31-b0f4-2d8e6a91c7b5";

export const connectionExamples: ExampleSet = {
  responses: {
    ConnectionList: {
      connections: [
        {
          id,
          client: {
            id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
            name: "Claude",
            uri: "https://claude.ai",
            host: "claude.ai",
            redirect_host: "claude.ai",
          },
          user: {
            id: "6f1de2c4-3b0a-4c86-9a57-1e0c2b7d4f93",
            email: "ada@example.com",
            display_name: "Ada",
          },
          permissions: ["log_usage", "read_summaries"],
          project: null,
          monthly_limit: 50,
          spent: 12.34,
          created_at: "2026-11-20T16:04:11.250+00:00",
          last_used_at: "2026-11-21T09:31:02.511+00:00",
          can_revoke: true,
        },
      ],
    },
    RevokedConnection: { id, revoked: true },
    AuthorizationServerMetadata: {
      issuer: "https://outlay.example",
      authorization_endpoint: "https://outlay.example/oauth/authorize",
      token_endpoint: "https://outlay.example/oauth/token",
      registration_endpoint: "https://outlay.example/oauth/register",
      revocation_endpoint: "https://outlay.example/oauth/revoke",
      scopes_supported: [
        "log_usage",
        "add_expenses",
        "manage_subscriptions",
        "read_summaries",
        "offline_access",
      ],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: ["https://outlay.example/api/mcp"],
      service_documentation: "https://outlay.example/docs",
    },
    ProtectedResourceMetadata: {
      resource: "https://outlay.example/api/mcp",
      resource_name: "Outlay",
      authorization_servers: ["https://outlay.example"],
      scopes_supported: ["log_usage", "add_expenses", "read_summaries", "manage_alerts"],
      bearer_methods_supported: ["header"],
      resource_documentation: "https://outlay.example/docs/agents",
    },
  },
};
