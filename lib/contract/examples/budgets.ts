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
  owner: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418", name: "Ada Lovelace", may_raise_percent: 50 },
  week_starts_on: "monday",
  starts_on: null,
  ends_on: null,
  usual_amount: 1000,
  raise: null,
  alert_at: { percent: [50, 80, 100], usd: [] },
  held_usd: 1.5,
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

const { id: _id, held_usd: _held, created_at: _created, ...shown } = budget;
const preview = {
  ...shown,
  would_warn: [{ level: "50", usd: 500, on: "2026-11-14" }],
  would_refuse: null,
  is_known_scope: true,
};

const asked = {
  id: "0193a0f7-2c10-7b6e-9d54-4e0f6a7b8c9d",
  budget: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417", name: "Checkout", currency: "USD" },
  state: "approved",
  limited_key: null,
  amount: 250,
  percent: 25,
  reason: "Load test before the launch",
  until: "2026-11-30",
  created_at: "2026-11-24T09:30:00.000+00:00",
};
const decision = {
  at: "2026-11-24T10:05:00.000+00:00",
  amount: 200,
  until: "2026-11-30",
  answer: "Tell me if that is too little.",
};
const request = {
  ...asked,
  asked_by: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d41a", name: "Grace Hopper" },
  key: null,
  decision: {
    ...decision,
    by: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418", name: "Ada Lovelace" },
    in_slack: false,
  },
  can_decide: false,
  can_withdraw: false,
  most: null,
  ends_with_raise: null,
};
const keyRequest = { ...asked, decision };

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
    AskForBudget: {
      share: {
        summary: "A quarter more until the end of the month",
        value: {
          budget_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
          percent: 25,
          reason: "Load test before the launch",
          until: "2026-11-30",
        },
      },
      amount: {
        summary: "An amount in the budget's currency",
        value: {
          budget_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
          amount: 50,
          reason: "Backfill of last week",
          until: "2026-11-27",
        },
      },
      key: {
        summary: "The monthly limit of a key, which the key itself can ask for",
        value: {
          key_id: "0193a0f9-2b1c-7a44-b1f0-6c1d2e3f4a5b",
          amount: 20,
          reason: "Backfill of last week",
          until: "2026-11-27",
        },
      },
    },
    DecideBudgetRequest: {
      part: {
        summary: "Approve less than was asked for",
        value: { decision: "approve", amount: 200, answer: "Tell me if that is too little." },
      },
      deny: { summary: "Deny it", value: { decision: "deny", answer: "Wait for next month." } },
    },
    EditBudgetRequest: {
      amount: { summary: "Another limit", value: { amount: 1200 } },
      owner: {
        summary: "An owner, who may approve requests for up to 30% more",
        value: { owner: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418", may_raise_percent: 30 } },
      },
      raise: {
        summary: "Raise the limit until the end of a launch",
        value: { raise: { amount: 2500, until: "2026-11-30" } },
      },
    },
  },
  responses: {
    Budget: budget,
    BudgetPreview: preview,
    BudgetList: { budgets: [budget], can_edit: true },
    BudgetRequest: request,
    BudgetRequestList: { requests: [request], can_ask: true },
    KeyBudgetRequest: keyRequest,
    KeyBudgetRequestList: { requests: [keyRequest] },
  },
};
