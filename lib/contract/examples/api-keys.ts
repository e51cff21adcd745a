import type { ExampleSet } from "./example-set";
import { sourceSettingsExample } from "./sources";

const key = {
  id: "0193a0f9-2b1c-7a44-b1f0-6c1d2e3f4a5b",
  kind: "key",
  name: "Checkout service",
  prefix: "svc_live_4fQz",
  last_four: "Xk2P",
  permissions: ["log_usage", "read_summaries"],
  project_id: null,
  project: null,
  conditions: {
    project_slugs: ["checkout", "search"],
    deny_project_slugs: [],
    features: [],
    sources: ["api"],
    users: [],
  },
  monthly_limit: 50,
  raise: { amount: 70, until: "2026-11-27" },
  on_limit: "refuse",
  spent: 12.4075,
  expires_at: "2027-03-01T00:00:00.000+00:00",
  rate_limit_rpm: 600,
  allowed_cidrs: ["203.0.113.0/24"],
  source: null,
  environment: "live",
  status: "active",
  revoked_at: null,
  rotated_at: null,
  last_used_at: "2026-11-21T09:30:00.412+00:00",
  created_at: "2026-11-02T14:05:31.007+00:00",
  created_by: { id: "0193a0e0-51d2-7c3b-8a11-2f6b9c0d4e7a", name: "Ada Lovelace", email: "ada@example.com" },
  can_edit: true,
  summary:
    "May log usage and read summaries in checkout and search, with the source api, up to $50 a month, at most 600 requests a minute, from 203.0.113.0/24, until 1 March 2027.",
};

export const apiKeyExamples: ExampleSet = {
  requests: {
    CreateApiKeyRequest: {
      server: {
        summary: "A server that records what two projects use",
        value: {
          name: "Checkout service",
          permissions: ["log_usage", "read_summaries"],
          conditions: { project_slugs: ["checkout", "search"], sources: ["api"] },
          monthly_limit: 50,
          expires_at: "2027-03-01T00:00:00Z",
          rate_limit_rpm: 600,
          allowed_cidrs: ["203.0.113.0/24"],
        },
      },
      source: {
        summary: "A key for Claude Code on every machine of a team",
        value: {
          name: "Claude Code, team",
          permissions: ["log_usage"],
          conditions: { project_slugs: ["checkout", "search"] },
          source: sourceSettingsExample,
        },
      },
      test: {
        summary: "A key for trying things out",
        value: {
          name: "CI",
          permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
          environment: "test",
        },
      },
    },
    EditApiKeyRequest: {
      limit: { summary: "Another limit", value: { monthly_limit: 200 } },
      raise: { summary: "End a raise before its last day", value: { raise: null } },
      open: {
        summary: "Lift the expiry, and allow one more project",
        value: { expires_at: null, conditions: { project_slugs: ["checkout", "search", "platform"] } },
      },
    },
  },
  responses: {
    ApiKey: key,
    ApiKeyWithSecret: {
      ...key,
      spent: 0,
      last_used_at: null,
      secret: "svc_live_4fQzT1mB8sYw0cKd7RpLhV3nGjX5aEuO2iZxkXk2P",
    },
    ApiKeyList: {
      api_keys: [key],
      can_create: true,
      grantable_permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
    },
  },
};
