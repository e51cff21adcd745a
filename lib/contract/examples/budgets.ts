import type { ExampleSet } from "./example-set";

const budget = {
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
  name: "Checkout",
  scope_type: "project",
  period: "month",
  period_from: "2026-11-01",
  period_until: "2026-12-01",
  time_zone: "UTC",
  amount: 1000,
  spent: 702.5525,
  remaining: 297.4475,
  percent_used: 0.7025525,
  alert: false,
  reached: { percent: [50], usd: [] },
  blocks: false,
  currency: "USD",
  scope: { type: "project", value: "checkout", label: "Checkout" },
  warns: {
    people: [{ id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418", name: "Ada Lovelace" }],
    channels: [{ id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d419", name: "Finance", is_off: false }],
    falls_back: false,
  },
  week_starts_on: "monday",
  starts_on: null,
  ends_on: null,
  usual_amount: 1000,
  raise: null,
  alert_at: { percent: [50, 80, 100], usd: [] },
  refused_usd: 7.25,
  forecast: 1030,
  forecast_details: {
    low_usd: 1010,
    high_usd: 1060,
    recorded_usd: 702.5525,
    coming_usd: 0,
    added_usd: 327.4475,
    days_left: 9,
    days_compared: 35,
  },
  runs_out_on: "2026-11-30",
  created_at: "2026-10-01T08:00:00.000+00:00",
};

const { id: _id, created_at: _created, ...shown } = budget;
const preview = {
  ...shown,
  would_warn: [{ level: "50", usd: 500, on: "2026-11-14" }],
  would_refuse: null,
  is_known_scope: true,
};

export const budgetExamples: ExampleSet = {
  requests: {
    CreateBudgetRequest: {
      everything: { summary: "All spend", value: { scope_type: "global", amount: 2000 } },
      week: {
        summary: "A weekly budget of one team, with alerts at two thirds and at 500 USD",
        value: {
          scope_type: "tag",
          scope_value: "team:growth",
          amount: 600,
          period: "week",
          time_zone: "Europe/Berlin",
          alert_at: { percent: [66], usd: [500] },
        },
      },
      block: {
        summary: "One key, in euros: refuses costs that would exceed its limit",
        value: {
          name: "Nightly jobs",
          scope_type: "key",
          scope_value: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
          amount: 250,
          currency: "EUR",
          blocks: true,
        },
      },
      owner: {
        summary: "A feature that no cost names yet, which warns one person and one channel",
        value: {
          scope_type: "feature",
          scope_value: "summaries",
          amount: 100,
          warns: {
            people: ["0193a0f7-1e44-7c02-a6d3-90b1f8e2d418"],
            channels: ["0193a0f7-1e44-7c02-a6d3-90b1f8e2d419"],
          },
          allow_unknown_scope: true,
        },
      },
      project: {
        summary: "One project",
        value: { name: "Checkout", scope_type: "project", scope_value: "checkout", amount: 1000 },
      },
    },
    EditBudgetRequest: {
      amount: { summary: "Another limit", value: { amount: 1200 } },
      raise: {
        summary: "Raise the limit until the end of a launch",
        value: { raise: { amount: 2500, until: "2026-11-30" } },
      },
    },
  },
  responses: { Budget: budget, BudgetPreview: preview, BudgetList: { budgets: [budget], can_edit: true } },
};
