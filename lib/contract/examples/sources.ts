import type { ExampleSet } from "./example-set";

export const sourceSettingsExample = {
  program: "claude-code-team",
  project_attribute: "vcs.repository.name",
  default_project: "internal",
  feature_attribute: "query_source",
  default_feature: null,
  tags: [{ name: "team", attribute: "team" }],
  trusted_cost: null,
  subscription_covered: false,
};

const summary = {
  id: "0193a0f9-2b1c-7a44-b1f0-6c1d2e3f4a5b",
  name: "Claude Code, team",
  status: "active",
  environment: "live",
  program: "claude-code-team",
  emitters: ["claude-code"],
  told: 1204,
  recorded: 1190,
  refused: 12,
  last_received_at: "2026-11-21T09:30:00.412+00:00",
  is_silent: false,
  summary: "May log usage in checkout and search, with the source api.",
};

export const sourceExamples: ExampleSet = {
  requests: {},
  responses: {
    SourceList: { sources: [summary], can_create: true },
    SourceDetails: {
      ...summary,
      settings: sourceSettingsExample,
      can_edit: true,
      arrivals: [
        {
          emitter: "claude-code",
          told: 1204,
          recorded: 1190,
          repeated: 2,
          refused: 12,
          first_at: "2026-11-02T14:06:10.007+00:00",
          last_at: "2026-11-21T09:30:00.412+00:00",
          latest: {
            id: "0193a0fa-1c2d-7e3f-8a4b-5c6d7e8f9a0b",
            at: "2026-11-21T09:30:00.412+00:00",
            provider: "anthropic",
            model: "claude-sonnet-4-5",
            amount_usd: 0.0123,
            cost_status: "priced",
          },
        },
      ],
      account: [
        {
          hour: "2026-11-21T09:00:00.000+00:00",
          emitter: "claude-code",
          outcome: "recorded",
          by: null,
          count: 31,
        },
        {
          hour: "2026-11-21T09:00:00.000+00:00",
          emitter: "claude-code",
          outcome: "repeats",
          by: "told_one_by_one",
          count: 24,
        },
      ],
      refusals: [
        {
          code: "project_not_allowed",
          description: "This API key may not use the project payroll.",
          count: 12,
          first_at: "2026-11-20T11:00:02.100+00:00",
          last_at: "2026-11-21T09:12:44.900+00:00",
          example: { emitter: "claude-code", project: "payroll", model: "claude-sonnet-4-5" },
        },
      ],
      kept: { exports: 3, records: 12, last_at: "2026-11-21T09:12:44.900+00:00" },
      unpriced: [{ provider: "acme", model: "house-model", line_count: 40 }],
    },
    ReplayResult: {
      sent: 12,
      recorded: 11,
      repeated: 1,
      refused: 0,
      skipped: 0,
      reasons: [],
    },
  },
};
