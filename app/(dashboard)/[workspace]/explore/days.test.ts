import { expect, test } from "vitest";
import { readPageRange } from "../page-range";
import { comparedDaysOf, daysOf } from "./page";

const shownAt = (instant: string, search: Record<string, string>) => {
  const { range } = readPageRange(search, null, Date.parse(instant));
  return { days: daysOf(range), compared: comparedDaysOf(range) };
};

test.each([
  ["of a month that goes on, as many", "month", "2026-11-23T12:00:00Z", "2026-10-01", "2026-10-23"],
  ["of a longer month, the whole shorter one", "month", "2026-03-31T12:00:00Z", "2026-02-01", "2026-02-28"],
  [
    "of a month that is over, the whole one",
    "last_month",
    "2026-03-15T12:00:00Z",
    "2026-01-01",
    "2026-01-31",
  ],
  ["of the latest days, as many", "last_7_days", "2026-11-23T12:00:00Z", "2026-11-10", "2026-11-16"],
  ["of today, yesterday", "day", "2026-11-23T00:00:00Z", "2026-11-22", "2026-11-22"],
])("Explore compares with the days before: %s", (_, period, now, from, to) => {
  expect(shownAt(now, { period }).compared).toEqual({ from, to });
});

test("Explore compares days that are over with all of the chosen days", () => {
  const chosen = { compare: "range", compare_from: "2026-01-01", compare_to: "2026-10-31" };
  const days = { period: "range", from: "2026-11-14", to: "2026-11-23" };
  expect(shownAt("2026-11-23T12:00:00Z", { ...days, ...chosen }).compared).toEqual({
    from: "2026-01-01",
    to: "2026-10-31",
  });
});

test("Explore compares days that have not begun with whole ones, and all time with nothing", () => {
  const coming = { period: "range", from: "2026-12-01", to: "2026-12-31" };
  expect(shownAt("2026-11-23T12:00:00Z", coming)).toEqual({
    days: { from: "2026-12-01", to: "2026-12-31" },
    compared: { from: "2026-11-01", to: "2026-11-30" },
  });
  expect(shownAt("2026-11-23T12:00:00Z", { period: "all" })).toEqual({
    days: { from: undefined, to: "2026-11-23" },
    compared: null,
  });
});
