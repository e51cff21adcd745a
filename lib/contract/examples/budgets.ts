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
  week_starts_on: "monday",
  starts_on: null,
  ends_on: null,
  usual_amount: 1000,
  raise: null,
  alert_at: { percent: [50, 80, 100], usd: [] },
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
  responses: { Budget: budget, BudgetList: { budgets: [budget], can_edit: true } },
};
