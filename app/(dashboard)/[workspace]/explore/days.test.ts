import { expect, test } from "vitest";
import { clockOf } from "@/lib/contract/values/clock";
import { readPageRange } from "../page-range";
import { daysOf } from "./page";

test.each([
  ["a month that goes on up to today", { period: "month" }, "2026-11-01", "2026-11-23"],
  ["days that have not begun in whole", { from: "2026-12-01", to: "2026-12-31" }, "2026-12-01", "2026-12-31"],
  ["all time without a first day", { period: "all" }, undefined, "2026-11-23"],
])("Explore shows %s", (_, search, from, to) => {
  const { range } = readPageRange(search, null, clockOf("UTC", Date.parse("2026-11-23T12:00:00Z")));
  expect(daysOf(range)).toEqual({ from, to });
});
