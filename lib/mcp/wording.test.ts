import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { describeBudgets } from "./wording";

test.each([
  ["0", "0.0%"],
  ["0.57", "57.0%"],
  ["0.7996", "79.9%"],
  ["0.9997", "99.9%"],
  ["0.999999999999999999", "99.9%"],
  ["1", "100.0%"],
  ["1.23456", "123.4%"],
  ["1e-7", "0.0%"],
])("Says of a budget of which %s is used %s: a limit is reached, never rounded to", (used, shown) => {
  const budget = {
    id: "1",
    name: "All",
    scope_type: "global" as const,
    period: "month" as const,
    period_from: "2026-11-01",
    period_until: "2026-12-01",
    time_zone: "UTC",
    amount: 1,
    spent: 0,
    remaining: 1,
    percent_used: new ExactNumber(used),
    alert: false,
    reached: { percent: [], usd: [] },
    blocks: false,
    warns: { people: 0, channels: 0 },
    currency: "USD",
  };
  expect(describeBudgets({ budgets: [budget], hidden_count: 0 })).toContain(`, ${shown}`);
});

const state = (
  name: string,
  used: string,
  more: { blocks?: boolean; reached?: number[]; warns?: { people: number; channels: number } } = {},
) => ({
  id: name,
  name,
  scope_type: "global" as const,
  period: "month" as const,
  period_from: "2026-11-01",
  period_until: "2026-12-01",
  time_zone: "UTC",
  amount: 1,
  spent: Number(used),
  remaining: 1 - Number(used),
  percent_used: new ExactNumber(used),
  alert: Number(used) >= 0.8,
  reached: { percent: more.reached ?? [], usd: [] },
  blocks: more.blocks ?? false,
  warns: more.warns ?? { people: 0, channels: 0 },
  currency: "USD",
});

test("Says first which budgets block, which are used up and which are near", () => {
  const text = describeBudgets({
    budgets: [
      state("Hard", "1", { blocks: true }),
      state("Soft", "1.5"),
      state("Close", "0.81", { blocks: true }),
      state("Warned", "0.3", { reached: [25] }),
      state("Calm", "0.1", { warns: { people: 2, channels: 1 } }),
    ],
    hidden_count: 0,
  });
  expect(text.split("\n").slice(0, 3)).toEqual([
    "Blocked, nothing more that costs anything can be recorded: Hard.",
    "Used up: Soft.",
    "Near the limit, or past a threshold: Close, Warned.",
  ]);
  expect(text).toMatch(/- Hard .* blocks/);
  expect(text).toMatch(/- Hard .* blocks — attention/);
  expect(text).toMatch(/- Calm .* warns \(2 people, 1 channel\)$/m);
});
