import type { ExampleSet } from "./example-set";

const links = { voids: null, voided_by: null, corrects: null, corrected_by: null };

const row = {
  ...links,
  id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
  part: 0,
  amount_usd: 0.1825,
  message_amount_usd: 0.1825,
  message_type: "usage",
  created_at: "2026-11-21T09:30:00.412+00:00",
  occurred_at: "2026-11-21T09:30:00.398+00:00",
  adjusts: null,
  project_slug: "checkout",
  project_name: "Checkout",
  environment: "live",
  feature: "order-summaries",
  end_user: "anna@example.com",
  session: "b7c2e9",
  tags: { team: "growth" },
  emitter: null,
  source: "api",
  label: "gpt-4o · 18,250 output tokens",
  provider: "openai",
  model: "gpt-4o",
  unit_type: "output_tokens",
  quantity: 18250,
  line_count: 1,
  cost_status: "priced",
  list_price_usd: null,
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

const layer = (value: string, name: string, total_usd: number) => ({
  kind: "value" as const,
  value,
  name,
  total_usd,
});

const totals = {
  total_usd: 85.0825,
  usage_usd: 0.1825,
  subscription_usd: 0,
  expense_usd: 84.9,
  adjustment_usd: 0,
  message_count: 2,
  unpriced_count: 0,
  included_usd: 0,
};

const sums = (cost_usd: number, message_count: number) => ({
  cost_usd,
  message_count,
  tokens: null,
  token_cost_usd: null,
  measured: cost_usd,
});

const spendQueries = {
  models: {
    summary: "The models of each project, but for one",
    value: {
      group_by: ["project", "model"],
      from: "2026-11-01",
      to: "2026-11-22",
      filters: [{ field: "model", op: "is_not", values: ["gpt-4o-mini"] }],
      top: 5,
    },
  },
  tokens: {
    summary: "What a million tokens cost a team, week by week",
    value: {
      group_by: ["week", "tag:team"],
      measure: "cost_per_million_tokens",
      from: "2026-11-01",
      to: "2026-11-22",
    },
  },
};

const savedView = {
  id: "0193a2c1-4b1e-7f60-9c1d-7a52b8e0c4d3",
  name: "Models by week",
  query: "by=model&over=week&period=last_90_days",
  is_shared: true,
  created_by: { user_id: "0193a0f1-2d4c-7a10-8e55-6b0c9d1e2f34", display_name: "Ada" },
  created_at: "2026-11-21T09:30:00.000+00:00",
  can_delete: true,
};

export const spendExamples: ExampleSet = {
  requests: {
    SpendQuery: spendQueries,
    KeySpendQuery: spendQueries,
    SaveViewRequest: {
      shared: {
        summary: "A view for the workspace",
        value: { name: savedView.name, query: savedView.query, is_shared: true },
      },
    },
  },
  responses: {
    NameList: { features: ["support-chat", "chat-titles"], people: [], models: [], providers: [], tags: [] },
    SavedView: savedView,
    SavedViewList: { views: [savedView] },
    SpendAnswer: {
      from: "2026-11-01",
      to: "2026-11-22",
      environment: "live",
      measure: "cost",
      totals: sums(85.0825, 2),
      rows: {
        dimension: "project",
        groups: [{ value: "checkout", name: "Checkout", is_rest: false, ...sums(85.0825, 2) }],
        rest_count: 0,
      },
      columns: {
        dimension: "model",
        groups: [
          { value: null, name: null, is_rest: false, ...sums(84.9, 1) },
          { value: "gpt-4o", name: "gpt-4o", is_rest: false, ...sums(0.1825, 1) },
        ],
        rest_count: 0,
      },
      cells: [
        { row: 0, column: 0, ...sums(84.9, 1) },
        { row: 0, column: 1, ...sums(0.1825, 1) },
      ],
    },
    ActivityList: {
      period: "month",
      from: "2026-11-01",
      to: "2026-11-30",
      compare: "previous",
      previous: { from: "2026-10-01", to: "2026-10-31" },
      count: 1,
      activity: [row],
      next_cursor: null,
      removed_before: null,
    },
    SessionList: {
      period: "month",
      from: "2026-11-01",
      to: "2026-11-30",
      sessions: [
        {
          session: "b7c2e9",
          amount_usd: 4.12,
          call_count: 38,
          first_at: "2026-11-21T09:12:41.005+00:00",
          last_at: "2026-11-21T09:30:00.398+00:00",
          models: ["gpt-4o"],
        },
      ],
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
      end_user: row.end_user,
      session: "b7c2e9",
      tags: row.tags,
      emitter: row.emitter,
      list_price_usd: row.list_price_usd,
      given_cost_usd: null,
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
      ...links,
      voided_at: null,
      void_reason: null,
      correction_reason: null,
      budgets: [{ id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a60", name: "Checkout" }],
      alerts: [
        {
          id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a61",
          rule: "budget_threshold",
          subject: "Checkout",
          percent: "80",
          fired_at: "2026-11-21T09:30:00.412+00:00",
        },
      ],
      session_total: {
        amount_usd: 4.12,
        call_count: 38,
        first_at: "2026-11-21T09:12:41.005+00:00",
        last_at: "2026-11-21T09:30:00.398+00:00",
      },
      may_void: true,
      entries: [
        {
          part: 0,
          occurred_at: row.occurred_at,
          adjusts: null,
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
      booked_ahead: null,
      refused: { total_usd: 7.25, message_count: 3 },
      compare: "previous",
      previous: {
        from: "2026-11-09",
        to: "2026-11-15",
        totals: { ...totals, total_usd: 84.9, usage_usd: 0, message_count: 1 },
        to_point_usd: 84.9,
        to_point: {
          from: "2026-11-09",
          to: "2026-11-14",
          until: "2026-11-14T14:05:00.000+00:00",
          aligned_by: "day",
          is_estimate: false,
        },
      },
      forecast_usd: 85.2,
      forecast: {
        low_usd: 85.1,
        high_usd: 85.3,
        recorded_usd: 85.0825,
        coming_usd: 0,
        added_usd: 0.1175,
        days_left: 1,
        days_compared: 21,
      },
      series: {
        bucket: "day",
        group_by: "project",
        groups: [group("checkout", "Checkout", 84.9), group("search", "Search", 0.1825)],
        layers: [layer("checkout", "Checkout", 84.9), layer("search", "Search", 0.1825)],
        points: [
          { from: "2026-11-20", total_usd: 84.9, amounts_usd: [84.9, 0], layers_usd: [84.9, 0] },
          { from: "2026-11-21", total_usd: 0.1825, amounts_usd: [0, 0.1825], layers_usd: [0, 0.1825] },
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
      by_user: [slice(null, null, 84.9, 1), slice(row.end_user, row.end_user, 0.1825, 1)],
      by_tag: [slice("team:growth", "team:growth", 0.1825, 1)],
    },
  },
};
