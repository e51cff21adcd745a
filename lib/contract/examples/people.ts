import type { ExampleSet } from "./example-set";

export const peopleExamples: ExampleSet = {
  responses: {
    CurrentUser: {
      user: { id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11", email: "ada@example.com" },
      profile: {
        id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11",
        email: "ada@example.com",
        display_name: "Ada Lovelace",
        avatar_url: null,
        default_workspace_id: "b9e7c2d4-3f61-4a8e-8c57-91d2e6f0a3b4",
      },
      workspaces: [
        {
          id: "b9e7c2d4-3f61-4a8e-8c57-91d2e6f0a3b4",
          name: "Ada Lovelace's workspace",
          slug: "ada",
          type: "personal",
          description: null,
          base_currency: "USD",
          require_mfa: false,
          role: "owner",
        },
      ],
      locked_workspaces: [],
    },
  },
};
