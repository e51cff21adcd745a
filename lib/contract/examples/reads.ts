import type { ExampleSet } from "./example-set";

const projectId = "0193a0f2-8c1d-7b1e-9d55-1f3e0a6b7c20";

export const readExamples: ExampleSet = {
  responses: {
    MonthSummary: {
      period: "month",
      total_usd: 1284.1025,
      usage_usd: 959.2025,
      subscription_usd: 240,
      expense_usd: 84.9,
      by_project: { checkout: 702.5525, search: 341.55, platform: 240 },
      top_project: { slug: "checkout", name: "Checkout", total_usd: 702.5525 },
      message_count: 18422,
      unpriced_count: 0,
      included_usd: 812.4,
    },
    ProjectSpend: {
      project: { id: projectId, slug: "checkout", name: "Checkout" },
      from: "2026-11-01T00:00:00.000+00:00",
      to: "2026-12-01T00:00:00.000+00:00",
      total_usd: 85.0825,
      usage_usd: 0.1825,
      subscription_usd: 0,
      expense_usd: 84.9,
      message_count: 2,
      unpriced_count: 0,
      by_model: [
        { model: null, total_usd: 84.9 },
        { model: "gpt-4o", total_usd: 0.1825 },
      ],
      by_feature: [
        { feature: null, total_usd: 84.9 },
        { feature: "order-summaries", total_usd: 0.1825 },
      ],
      daily: [
        { day: "2026-11-20", total_usd: 84.9 },
        { day: "2026-11-21", total_usd: 0.1825 },
      ],
      rows: [
        {
          id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
          occurred_at: "2026-11-21T09:30:00.398+00:00",
          created_at: "2026-11-21T09:30:00.412+00:00",
          message_type: "usage",
          amount_usd: 0.1825,
          cost_status: "priced",
          provider: "openai",
          model: "gpt-4o",
          feature: "order-summaries",
          unit_type: "output_tokens",
          quantity: 18250,
          source: "api",
          label: null,
        },
      ],
    },
    BudgetStatus: {
      budgets: [
        {
          id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
          name: "Everything",
          scope_type: "global",
          period: "month",
          period_from: "2026-11-01",
          period_until: "2026-12-01",
          time_zone: "UTC",
          amount: 2000,
          spent: 1284.1025,
          remaining: 715.8975,
          percent_used: 0.64205125,
          alert: false,
          blocks: false,
          currency: "USD",
        },
      ],
      hidden_count: 0,
    },
    Health: { status: "ok", version: "0.1.0", checks: { database_readable: "ok", database_writable: "ok" } },
  },
};
