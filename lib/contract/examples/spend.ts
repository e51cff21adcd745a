import type { ExampleSet } from "./example-set";

const row = {
  id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
  part: 0,
  amount_usd: 0.1825,
  message_amount_usd: 0.1825,
  message_type: "usage",
  created_at: "2026-11-21T09:30:00.412+00:00",
  occurred_at: "2026-11-21T09:30:00.398+00:00",
  project_slug: "checkout",
  project_name: "Checkout",
  environment: "live",
  feature: "order-summaries",
  source: "api",
  label: "gpt-4o · 18,250 output tokens",
  provider: "openai",
  model: "gpt-4o",
  unit_type: "output_tokens",
  quantity: 18250,
  line_count: 1,
  cost_status: "priced",
  key: { id: "0193a0f3-77aa-7c11-b0d2-1f64c2a9e3b7", name: "Checkout production" },
  user: null,
};

const slice = (value: string | null, name: string | null, total_usd: number, message_count: number) => ({
  value,
  name,
  is_rest: false,
  total_usd,
  message_count,
});

const group = (value: string, name: string, total_usd: number) => ({
  value,
  name,
  is_rest: false,
  total_usd,
});

const totals = {
  total_usd: 85.0825,
  usage_usd: 0.1825,
  subscription_usd: 0,
  expense_usd: 84.9,
  message_count: 2,
  unpriced_count: 0,
};

export const spendExamples: ExampleSet = {
  responses: {
    ActivityList: {
      period: "month",
      from: "2026-11-01",
      to: "2026-11-30",
      count: 1,
      activity: [row],
      next_cursor: null,
    },
    MessageDetail: {
      id: row.id,
      message_type: row.message_type,
      label: null,
      environment: row.environment,
      source: row.source,
      created_at: row.created_at,
      amount_usd: row.amount_usd,
      cost_status: row.cost_status,
      key: row.key,
      user: null,
      provider: row.provider,
      model: row.model,
      feature: row.feature,
      unit_type: row.unit_type,
      quantity: row.quantity,
      price: {
        rate: 0.00001,
        per: 1,
        unit: "output_tokens",
        source: "catalogue",
        version: "0.1.8",
        provider: "openai",
        model: "gpt-4o",
      },
      currency: null,
      original_amount: null,
      idempotency_key: "order-1042",
      batch_id: null,
      category: null,
      notes: null,
      metadata: { order: "A-1042" },
      details: null,
      entries: [
        {
          part: 0,
          occurred_at: row.occurred_at,
          project_slug: row.project_slug,
          project_name: row.project_name,
          amount_usd: row.amount_usd,
        },
      ],
      lines: [],
    },
    Metrics: {
      period: "week",
      from: "2026-11-16",
      to: "2026-11-22",
      environment: "live",
      totals,
      previous: {
        from: "2026-11-09",
        to: "2026-11-15",
        totals: { ...totals, total_usd: 84.9, usage_usd: 0, message_count: 1 },
        to_point_usd: 84.9,
      },
      forecast_usd: 85.13,
      series: {
        bucket: "day",
        group_by: "project",
        groups: [group("checkout", "Checkout", 84.9), group("search", "Search", 0.1825)],
        points: [
          { from: "2026-11-20", total_usd: 84.9, amounts_usd: [84.9, 0] },
          { from: "2026-11-21", total_usd: 0.1825, amounts_usd: [0, 0.1825] },
        ],
        previous: [
          { from: "2026-11-13", total_usd: 84.9 },
          { from: "2026-11-14", total_usd: 0 },
        ],
      },
      by_project: [slice("checkout", "Checkout", 84.9, 1), slice("search", "Search", 0.1825, 1)],
      by_type: [slice("expense", "expense", 84.9, 1), slice("usage", "usage", 0.1825, 1)],
      by_provider: [slice("Figma", "Figma", 84.9, 1), slice("openai", "openai", 0.1825, 1)],
      by_model: [slice(null, null, 84.9, 1), slice("gpt-4o", "gpt-4o", 0.1825, 1)],
      by_feature: [slice(null, null, 84.9, 1), slice("order-summaries", "order-summaries", 0.1825, 1)],
      by_key: [slice(row.key.id, row.key.name, 85.0825, 2)],
    },
  },
};
