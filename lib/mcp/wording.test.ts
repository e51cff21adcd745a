import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/exact-number";
import { describeBudgets } from "./wording";

test.each([
  ["0", "0.0 %"],
  ["0.57", "57.0 %"],
  ["0.7996", "79.9 %"],
  ["0.9997", "99.9 %"],
  ["0.999999999999999999", "99.9 %"],
  ["1", "100.0 %"],
  ["1.23456", "123.4 %"],
  ["1e-7", "0.0 %"],
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
  };
  expect(describeBudgets({ budgets: [budget], hidden_count: 0 })).toContain(`, ${shown}`);
});
