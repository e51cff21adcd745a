import type { ExampleSet } from "./example-set";

const erasure = {
  id: "0193a1c7-6b2e-7f04-9d1a-2c5e8f7a9b30",
  pseudonym: "erased-4be2c6d90a51",
  status: "done",
  changed_count: 1842,
  created_at: "2026-11-21T09:30:00.412+00:00",
  finished_at: "2026-11-21T09:30:04.118+00:00",
};

export const peopleExamples: ExampleSet = {
  requests: {
    EraseRequest: { person: { summary: "A person", value: { user: "anna@example.com" } } },
  },
  responses: {
    Erasure: erasure,
    ErasurePreview: {
      spellings: ["Anna@example.com", "anna@example.com"],
      message_count: 1842,
      billed_count: 61,
      budgets: ["anna@example.com"],
      api_keys: ["Agent"],
      provider_limits: ["anna@example.com"],
      alert_count: 2,
      audit_count: 3,
      request_count: 310,
      stays: {
        tags: [],
        not_searched: [
          "labels, notes, metadata and sessions of messages",
          "names of projects, features, keys, channels and bills, and accounts at providers",
          "reasons and answers of requests for more of a limit",
          "the account of a member with this address, and their entries in the audit log",
        ],
      },
    },
    ErasureList: { erasures: [erasure] },
    CurrentUser: {
      user: { id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11", email: "ada@example.com" },
      profile: {
        id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11",
        email: "ada@example.com",
        display_name: "Ada Lovelace",
        avatar_url: null,
        default_workspace_id: "b9e7c2d4-3f61-4a8e-8c57-91d2e6f0a3b4",
        locale: null,
        shown_currency: "usd",
      },
      workspaces: [
        {
          id: "b9e7c2d4-3f61-4a8e-8c57-91d2e6f0a3b4",
          name: "Ada Lovelace's workspace",
          slug: "ada",
          type: "personal",
          description: null,
          base_currency: "USD",
          time_zone: "UTC",
          next_time_zone: null,
          require_mfa: false,
          role: "owner",
        },
      ],
      locked_workspaces: [],
      deleted_workspaces: [],
    },
  },
};
