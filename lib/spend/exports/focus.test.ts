import { describe, expect, test } from "vitest";
import type { MessageType } from "@/lib/contract/ledger/message";
import type { StoredActivity } from "@/lib/spend/activity/activity-queries";
import { focusColumns, unitOf } from "./focus";
import { runsOf, unfold } from "./unfold";

const workspace = {
  id: "w",
  name: "Team",
  slug: "team",
  type: "team",
  description: null,
  base_currency: "USD",
  time_zone: "UTC",
  next_time_zone: null,
  require_mfa: false,
  role: "owner",
} as const;

/** A row of activity with the time at which it occurred. */
function rowOf(type: MessageType, occurredAt: string, others: Partial<StoredActivity> = {}): StoredActivity {
  return {
    id: "m",
    part: 0,
    amount_usd: "1.5",
    message_amount_usd: "1.5",
    message_type: type,
    created_at: new Date(occurredAt),
    occurred_at: new Date(occurredAt),
    at: occurredAt,
    project_slug: "checkout",
    project_name: "Checkout",
    environment: "live",
    feature: null,
    end_user: null,
    session: null,
    tags: null,
    emitter: null,
    list_price_usd: null,
    source: "api",
    label: null,
    provider: "acme",
    model: null,
    unit_type: type === "usage" ? "requests" : null,
    quantity: type === "usage" ? "12" : null,
    has_lines: type === "batch",
    line_count: 1,
    cost_status: "client",
    batch_id: null,
    category: null,
    details: null,
    key_id: "k",
    key_name: "Key",
    user_id: null,
    user_name: null,
    voids: null,
    voided_by: null,
    corrects: null,
    corrected_by: null,
    adjusts: null,
    undone_later: false,
    ...others,
  };
}

/** Some columns of the one charge of a row. */
function read(row: StoredActivity, names: string[]): unknown[] {
  const charge = { ...row, workspace };
  return names.map((wanted) => {
    const cell = focusColumns.find(([name]) => name === wanted)?.[1](charge);
    return typeof cell === "object" && cell !== null ? Number(cell.digits) : cell;
  });
}

const period = ["ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd"];

describe("The period of a FOCUS charge", () => {
  test.each<[MessageType, string, string, string, string, string]>([
    ["usage", "2026-11-05T12:00:00Z", "2026-11-05", "2026-11-06", "2026-11-01", "2026-12-01"],
    ["usage", "2026-12-31T23:59:59.999Z", "2026-12-31", "2027-01-01", "2026-12-01", "2027-01-01"],
    ["expense", "2026-02-28T00:00:00Z", "2026-02-28", "2026-03-01", "2026-02-01", "2026-03-01"],
    ["allocation", "2026-11-05T00:00:00Z", "2026-11-05", "2026-11-06", "2026-11-01", "2026-12-01"],
    // A subscription's charge is of a month, to the same day of the next, or to the last where that has no such day.
    ["subscription", "2026-11-05T00:00:00Z", "2026-11-05", "2026-12-05", "2026-11-01", "2026-12-01"],
    ["subscription", "2026-12-15T00:00:00Z", "2026-12-15", "2027-01-15", "2026-12-01", "2027-01-01"],
    ["subscription", "2026-01-31T00:00:00Z", "2026-01-31", "2026-02-28", "2026-01-01", "2026-02-01"],
    ["subscription", "2028-01-31T00:00:00Z", "2028-01-31", "2028-02-29", "2028-01-01", "2028-02-01"],
  ])("of %s on %s is from %s to before %s, billed from %s to before %s", (type, at, ...days) => {
    expect(read(rowOf(type, at), period)).toEqual(days.map((day) => `${day}T00:00:00Z`));
  });
});

test.each<[MessageType, string, string, number | null, string | null, number | null]>([
  ["usage", "Usage", "Usage-Based", 12, "Requests", 12],
  ["expense", "Purchase", "One-Time", 1, "Expenses", null],
  ["subscription", "Purchase", "Recurring", 1, "Months", null],
  ["allocation", "Adjustment", "One-Time", null, null, null],
])("a FOCUS charge of %s is %s, %s, with its quantity and unit", (type, ...expected) => {
  const names = ["ChargeCategory", "ChargeFrequency", "PricingQuantity", "PricingUnit", "ConsumedQuantity"];
  expect(read(rowOf(type, "2026-11-05T00:00:00Z"), names)).toEqual(expected);
});

test.each<[MessageType, string | null, string]>([
  ["bill_adjustment", "Tier of the bill · o3", "Tier of the bill, o3"],
  ["expense", "Ours · 2026", "Ours · 2026"],
  ["usage", null, "acme, 12 requests"],
])(
  "a FOCUS charge of %s with the label %s is described as %s, and names are kept as given",
  (type, label, text) => {
    expect(read(rowOf(type, "2026-11-05T00:00:00Z", { label }), ["ChargeDescription"])).toEqual([text]);
  },
);

test.each([
  ["input_tokens", "Tokens"],
  ["cache_write_5m_tokens", "Tokens"],
  ["tokens", "Tokens"],
  ["web_searches", "Web Searches"],
  ["GB-hours 30d", "GB Hours30d"],
  [null, null],
])("the unit %s is %s in FOCUS", (unit, written) => {
  expect(unitOf({ unit_type: unit })).toBe(written);
});

test("Exports the lines of a batch as postings, each to its last digit, beside the amount of the whole", () => {
  const none = { end_user: null, session: null, list_price_usd: null };
  const of = { unit_type: "requests", quantity: "2", cost_status: "client" as const, ...none };
  const batch = (id: string) =>
    rowOf("batch", "2026-11-05T00:00:00Z", { id, batch_id: id, line_count: 2, message_amount_usd: "3" });
  const rows = [rowOf("usage", "2026-11-06T00:00:00Z"), batch("a"), batch("b")];
  const lines = [
    { ...of, id: "a", part: 0, model: "m", feature: "chat", amount_usd: "1.000000000000000001" },
    { ...of, id: "a", part: 4, model: null, feature: null, amount_usd: "1.999999999999999999" },
    { ...of, id: "b", part: 1, model: "n", feature: null, amount_usd: "3" },
  ];
  expect(
    unfold(rows, lines).map((row) => [
      row.id,
      row.part,
      row.model,
      row.feature,
      row.amount_usd,
      row.message_amount_usd,
      row.label,
    ]),
  ).toEqual([
    ["m", 0, null, null, "1.5", "1.5", null],
    ["a", 0, "m", "chat", "1.000000000000000001", "3", "acme · batch a · 2 lines"],
    ["a", 4, null, null, "1.999999999999999999", "3", "acme · batch a · 2 lines"],
    ["b", 1, "n", null, "3", "3", "acme · batch b · 2 lines"],
  ]);
});

test("Reads a limited number of postings at a time, or one batch that has more", () => {
  const rows = [1, 1, 3, 9, 1, 1, 1, 1].map((line_count) =>
    rowOf("batch", "2026-11-05T00:00:00Z", { line_count }),
  );
  const sizes = [...runsOf(rows, 4)].map((run) => run.map(({ line_count }) => line_count));
  expect(sizes).toEqual([[1, 1], [3], [9], [1, 1, 1, 1]]);
  expect([...runsOf([], 4)]).toEqual([]);
});
