import type { ExampleSet } from "./example-set";

const figures = { amount_usd: 1284.1, adjustments_usd: 0, message_count: 14_210, unpriced_count: 3 };

const closing = {
  id: "0d6a1f3c-8f0e-4c55-9a53-5d0a7c1b2e94",
  month: "2026-10",
  ...figures,
  closed_at: "2026-11-03T09:12:40.118+00:00",
  closed_by: "grace@example.com",
  sha256: "9f2c1d0b5a7e4c38b6d1f0e29a84c7713e5b6d20f1a9c8e47b3d2650e1f4a7c9",
  bytes: 48_213,
  reopened_at: null,
  reopened_by: null,
  reopen_reason: null,
};

const list = {
  closed_until: "2026-11-01",
  months: [
    {
      month: "2026-11",
      ...{ amount_usd: 971.45, adjustments_usd: -12.4, message_count: 10_877, unpriced_count: 0 },
      ...{ later_adjustments_usd: 0, later_adjustment_count: 0 },
      ...{ closable_from: "2026-12-03T00:00:00.000+00:00", can_close: false, closing: null },
    },
    {
      month: "2026-10",
      ...figures,
      ...{ later_adjustments_usd: -12.4, later_adjustment_count: 2 },
      ...{ closable_from: "2026-11-03T00:00:00.000+00:00", can_close: false, closing },
    },
  ],
  reopened: [],
};

export const closedMonthExamples: ExampleSet = {
  requests: {
    CloseMonthRequest: { close: { value: { month: "2026-10" } } },
    ReopenMonthRequest: { reopen: { value: { reason: "An invoice of October came late." } } },
  },
  responses: {
    ClosedMonthList: list,
    ClosedMonths: {
      closed_until: "2026-11-01",
      months: [{ month: "2026-10", ...figures, closed_at: closing.closed_at, sha256: closing.sha256 }],
    },
  },
};
