import type { ExampleSet } from "./example-set";

const budget = {
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
  name: "Checkout",
  scope_type: "project",
  amount: 1000,
  spent: 702.5525,
  remaining: 297.4475,
  percent_used: 0.7025525,
  alert: false,
  scope: { type: "project", value: "checkout", label: "Checkout" },
  forecast: 1032.3220408163265,
  runs_out_on: "2026-11-30",
  created_at: "2026-10-01T08:00:00.000+00:00",
};

export const budgetExamples: ExampleSet = {
  requests: {
    CreateBudgetRequest: {
      everything: { summary: "Of all spend", value: { scope_type: "global", amount: 2000 } },
      project: {
        summary: "Of one project",
        value: { name: "Checkout", scope_type: "project", scope_value: "checkout", amount: 1000 },
      },
    },
    EditBudgetRequest: { raise: { summary: "Raise it", value: { amount: 1200 } } },
  },
  responses: { Budget: budget, BudgetList: { budgets: [budget], can_edit: true } },
};
