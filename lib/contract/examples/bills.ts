import type { ExampleSet } from "./example-set";

const sums = { billed_usd: 1342.18, recorded_usd: 1284.1, adjusted_usd: 0, difference_usd: 58.08 };
const parts = [
  { part: "no_source", amount_usd: 120.4 },
  { part: "discount", amount_usd: -62.32 },
];
const coverage = { missing_usd: 120.4, coverage_percent: 91 };
const units = { billed_units: 812_400_000, recorded_units: 738_100_000 };

const period = {
  provider: "openai",
  account: null,
  from: "2026-10-31",
  to: "2026-10-31",
  amount_usd: 41.92,
  former_usd: 40.11,
  is_replaced: false,
};

const leftOut = { left_out_count: 0, left_out_usd: 0 };

const bill = {
  id: "5b1f0f0e-2a53-4c68-9b0e-7b2b1a6f9a11",
  name: "openai-costs-october.csv",
  format: "csv",
  providers: ["openai"],
  from: "2026-10-01",
  to: "2026-10-31",
  amount_usd: 1342.18,
  counted_usd: 1342.18,
  row_count: 412,
  ...leftOut,
  changes: [period],
  created_at: "2026-11-03T09:12:40.118+00:00",
  created_by: "grace@example.com",
  provider_account_id: null,
};

const account = {
  id: "7c0e8c52-7f0e-4d6a-8a52-0c8f3b6f2d10",
  provider: "openai",
  account: null,
  folder: null,
  since: "2026-10-01",
  state: "healthy",
  problem: null,
  held: null,
  seats: null,
  telemetry: {
    state: "receiving",
    problem: null,
    source_id: "0192f0c1-7b5e-7c3a-9f41-2d6f0a8b1c11",
    received_at: "2026-11-22T09:04:00.000+00:00",
    checked_at: "2026-11-22T03:00:00.000+00:00",
    registered_at: "2026-11-20T10:00:00.000+00:00",
    registered_by: "ada@example.com",
  },
  is_pulling: false,
  pulled_through: "2026-11-02",
  stored_through: null,
  last_pull_at: "2026-11-03T09:14:02.310+00:00",
  last_success_at: "2026-11-03T09:14:02.310+00:00",
  created_at: "2026-11-03T09:13:55.004+00:00",
  created_by: "grace@example.com",
};

const limit = {
  id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d51a",
  budget: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417", name: "Checkout" },
  account: { id: account.id, provider: "openai", name: null },
  kind: "project",
  name: "Checkout",
  period: "month",
  state: "drift",
  problem: null,
  limit_usd: 500,
  written_usd: 500,
  written_at: "2026-11-03T09:14:05.120+00:00",
  held: { limit_usd: 300, period: "month", stops: true },
  read_at: "2026-11-04T09:14:05.301+00:00",
  is_due: false,
  removes_limit: true,
  created_at: "2026-11-03T09:14:04.870+00:00",
  created_by: "grace@example.com",
};

const month = {
  month: "2026-10",
  ...sums,
  ...coverage,
  recorded_elsewhere_usd: 12.5,
  billed_through: "2026-10-31",
};

const adjustment = {
  id: "9d2f3a60-6c1e-4a39-8f57-2b1c0d9e4f31",
  month: "2026-10",
  project: { slug: "checkout", name: "Checkout" },
  amount_usd: 58.08,
  standing_usd: 58.08,
  message_count: 2,
  parts,
  days: [{ day: "2026-10-31", provider: "openai", amount_usd: 58.08 }],
  effects: null,
  created_at: "2026-11-03T09:20:11.402+00:00",
  created_by: "grace@example.com",
  undone_at: null,
  undone_by: null,
};

export const billExamples: ExampleSet = {
  requests: {
    RegisterTelemetryRequest: {
      plain: { summary: "Every call, by the project that it names", value: {} },
      project: { summary: "With a project for calls that name none", value: { project: "checkout" } },
    },
    AddProviderAccountRequest: {
      anthropic: {
        summary: "An organization at Anthropic, from the first day of the last month",
        value: { provider: "anthropic", key: "sk-ant-admin01-example" },
      },
      several: {
        summary: "One of two organizations at OpenAI, from a day",
        value: { provider: "openai", key: "sk-admin-example", account: "research", since: "2026-10-01" },
      },
    },
    BookAdjustmentRequest: {
      preview: {
        summary: "What would be booked of a month",
        value: { month: "2026-10", project: "checkout", dry_run: true },
      },
      part: {
        summary: "The usage of one provider that no source reports, as the preview said",
        value: {
          month: "2026-10",
          project: "checkout",
          provider: "openai",
          parts: ["no_source"],
          expected_usd: 120.4,
        },
      },
    },
    LinkProviderLimitRequest: {
      project: {
        summary: "A project at OpenAI",
        value: {
          budget_id: limit.budget.id,
          account_id: account.id,
          kind: "project",
          target_id: "proj_checkout",
        },
      },
    },
    ResolveProviderLimitRequest: {
      write: { summary: "The budget's limit is written again", value: { action: "write" } },
    },
    PullRequest: { usual: { summary: "A pull", value: {} } },
    AddBillRequest: {
      file: {
        summary: "A cost export in cents, whose columns have usual names",
        value: {
          name: "openai-costs-october.csv",
          content: "date,model,unit,quantity,amount\n2026-10-31,gpt-5,input_tokens,1200000,150",
          constants: { provider: "openai" },
          amounts_in: "cents",
        },
      },
    },
  },
  responses: {
    Bill: bill,
    BillAdjustment: adjustment,
    BillAdjustmentList: { adjustments: [adjustment], can_book: true },
    ProviderLimit: limit,
    ProviderLimitList: { limits: [limit], can_edit: true },
    LimitTargetList: {
      targets: [
        {
          kind: "project",
          id: "proj_checkout",
          name: "Checkout",
          held: null,
          is_proposed: true,
          is_linked: false,
        },
      ],
      problem: null,
    },
    ProviderAccount: account,
    ProviderAccountList: { accounts: [account], can_add: true },
    BilledHistory: {
      ...{ from: "2026-09-01", to: "2026-10-31", total_usd: 41.92 },
      days: [{ day: "2026-09-30", provider: "openai", billed_usd: 41.92, is_before_recording: true }],
    },
    BillList: { bills: [bill], can_edit: true },
    AddedBill: {
      id: bill.id,
      format: "csv",
      columns: { day: "date", model: "model", unit: "unit", quantity: "quantity", amount: "amount" },
      unused: [],
      row_count: 412,
      ...leftOut,
      amount_usd: 1342.18,
      periods: [period],
      jumps: [],
    },
    Reconciliation: {
      months: [month],
      detail: {
        month: "2026-10",
        ...sums,
        parts,
        ...coverage,
        units,
        providers: [{ provider: "openai", ...sums, parts, ...coverage, units, billed_days: 31 }],
        models: [{ provider: "openai", model: "gpt-5", ...sums, parts, units }],
        cells: [
          {
            provider: "openai",
            from: "2026-10-31",
            to: "2026-10-31",
            model: "gpt-5",
            billed_usd: 41.92,
            recorded_usd: 30.5,
            adjusted_usd: 0,
            difference_usd: 11.42,
            parts: [{ part: "no_source", amount_usd: 11.42 }],
            lines: [],
          },
        ],
        cell_count: 1,
        users: [
          { provider: "openai", kind: "user", user: "ada@example.com", user_count: 1, ...sums },
          {
            ...{ provider: "openai", kind: "none", user: null, user_count: 0 },
            ...{ billed_usd: 0, recorded_usd: 0, adjusted_usd: 0, difference_usd: 0 },
          },
        ],
        unseen_keys: [
          { provider: "openai", key: "prod-ingest", from: "2026-10-01", to: "2026-10-31", amount_usd: 120.4 },
        ],
        learned_prices: [
          {
            provider: "openai",
            model: "gpt-5",
            unit_type: "input_tokens",
            rate: 0.0000010625,
            recorded_rate: 0.00000125,
            from: "2026-10-01",
            quantity: 332_373_333,
            now_usd: 415.46666625,
            then_usd: 353.1466663125,
          },
        ],
      },
    },
  },
};
