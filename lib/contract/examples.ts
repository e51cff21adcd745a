import type { Example } from "./openapi";

/** Requests to show in the documentation, by the id of their schema. A test holds each against the schema itself. */
export const requestExamples: Record<string, Record<string, Example>> = {
  CostMessage: {
    usage: {
      summary: "Usage of a model",
      value: {
        project: "checkout",
        source: "api",
        idempotency_key: "chatcmpl-9f2c41",
        message: {
          type: "usage",
          provider: "openai",
          model: "gpt-4o",
          unit_type: "output_tokens",
          quantity: 18250,
          feature: "order-summaries",
        },
      },
    },
    batch: {
      summary: "A batch job, several models",
      value: {
        project: "search",
        source: "api",
        idempotency_key: "batch_67d1f0",
        message: {
          type: "batch",
          provider: "anthropic",
          batch_id: "batch_67d1f0",
          items: [
            {
              model: "claude-sonnet-4-5",
              unit_type: "input_tokens",
              quantity: 1_480_000,
              feature: "reranking",
            },
            {
              model: "claude-sonnet-4-5",
              unit_type: "output_tokens",
              quantity: 96_400,
              feature: "reranking",
            },
          ],
        },
      },
    },
    expense: {
      summary: "An expense",
      value: {
        project: "checkout",
        source: "manual",
        message: {
          type: "expense",
          vendor: "Hetzner",
          amount: 84.9,
          currency: "EUR",
          category: "hosting",
          notes: "Invoice 2026-11-0183",
        },
      },
    },
    subscription: {
      summary: "A subscription",
      value: {
        project: "platform",
        source: "api",
        idempotency_key: "cursor-2026-11",
        message: {
          type: "subscription",
          vendor: "Cursor",
          amount: 240,
          currency: "USD",
          interval: "month",
          plan: "Teams",
          seats: 6,
          starts_on: "2026-11-01",
        },
      },
    },
    allocation: {
      summary: "Moving cost between projects",
      value: {
        project: "search",
        source: "manual",
        message: {
          type: "allocation",
          from_project: "platform",
          percent: 25,
          notes: "A quarter of the shared gateway",
        },
      },
    },
  },
  BulkRequest: {
    messages: {
      summary: "Two messages, one of them not valid",
      value: {
        messages: [
          {
            project: "checkout",
            source: "import",
            idempotency_key: "row-1",
            message: {
              type: "usage",
              provider: "openai",
              model: "gpt-4o",
              unit_type: "input_tokens",
              quantity: 52000,
            },
          },
          {
            project: "checkout",
            source: "import",
            idempotency_key: "row-2",
            message: { type: "expense", vendor: "Hetzner", amount: -12 },
          },
        ],
      },
    },
  },
  SetPriceRequest: {
    model: {
      summary: "A model of your own",
      value: {
        provider: "in-house",
        model: "ranker-7b",
        unit_type: "input_tokens",
        rate: 0.00000004,
        starts_at: "2026-11-01T00:00:00Z",
      },
    },
    range: {
      summary: "A negotiated price, from the start of the quarter on",
      value: {
        provider: "openai",
        model: "gpt-4o",
        unit_type: "input_tokens",
        rate: 0.000002,
        starts_at: "2026-10-01T00:00:00Z",
        reprice: { from: "2026-10-01T00:00:00Z" },
      },
    },
  },
};

const projectId = "0193a0f2-8c1d-7b1e-9d55-1f3e0a6b7c20";

const subscription = {
  id: "0193a1b4-71c2-7b6d-a15f-2e9d04c8b7f3",
  project: "design",
  environment: "live",
  vendor: "Figma",
  plan: "Professional",
  amount: 45,
  currency: "USD",
  interval: "month",
  starts_on: "2026-09-05",
  ends_on: null,
  booked_periods: 3,
  next_on: "2026-12-05",
  stopped_at: null,
};

const price = {
  id: "0193a1b4-6b0e-7f51-9d3c-0a7be1c4d2f8",
  provider: "in-house",
  model: "ranker-7b",
  unit_type: "input_tokens",
  rate: 0.00000004,
  starts_at: "2026-11-01T00:00:00.000+00:00",
  created_at: "2026-11-21T09:31:02.511+00:00",
};

const repricing = {
  id: "0193a1b4-6b11-7a20-8c7e-5d1f90b3e6a4",
  provider: "in-house",
  from: "2026-11-01T00:00:00.000+00:00",
  to: null,
  includes_priced: false,
  status: "running",
  examined_count: 500,
  changed_count: 500,
  change_usd: 36.12,
  created_at: "2026-11-21T09:31:02.511+00:00",
  finished_at: null,
};

/** Answers to show, by the id of their schema. A test holds each against the schema itself. */
export const responseExamples: Record<string, unknown> = {
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
        role: "owner",
      },
    ],
  },
  IngestResult: {
    id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
    amount_usd: 0.1825,
    project_id: projectId,
    created_at: "2026-11-21T09:30:00.412+00:00",
    cost_status: "priced",
  },
  BulkResult: {
    recorded: 1,
    refused: 1,
    results: [
      {
        index: 0,
        status: 201,
        replayed: false,
        id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
        amount_usd: 0.13,
        project_id: projectId,
        created_at: "2026-11-21T09:30:00.412+00:00",
        cost_status: "priced",
      },
      {
        index: 1,
        status: 400,
        error: "validation_failed",
        error_description: "message.amount: must be greater than 0",
        issues: [{ path: "message.amount", message: "must be greater than 0" }],
      },
    ],
  },
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
        amount: 2000,
        spent: 1284.1025,
        remaining: 715.8975,
        percent_used: 0.64205125,
        alert: false,
      },
    ],
  },
  Health: { status: "ok", version: "0.1.0", checks: { database: "ok" } },
  PriceList: { prices: [price], repricings: [repricing] },
  SetPriceResult: { price, repricings: [repricing] },
  UnpricedList: {
    unpriced: [
      {
        provider: "in-house",
        model: "ranker-7b",
        unit_type: "input_tokens",
        line_count: 61,
        quantity: 109_800_000,
        first_occurred_at: "2026-11-01T08:12:44.120+00:00",
        last_occurred_at: "2026-11-21T09:02:10.006+00:00",
      },
    ],
  },
  SubscriptionList: { subscriptions: [subscription] },
  RecurringSubscription: { ...subscription, next_on: null, stopped_at: "2026-11-21T09:31:02.511+00:00" },
};
