import { describe, expect, test } from "vitest";
import type { Period } from "@/lib/contract/ledger-query";
import { monthOf } from "@/lib/contract/month";
import { rangeBefore, rangeOf, samePointBefore } from "./period";

const at = (instant: string) => Date.parse(instant);

describe("A period", () => {
  test.each<[Period, string, string, string]>([
    ["day", "2026-11-30T23:59:59.999Z", "2026-11-30", "2026-12-01"],
    ["week", "2026-11-22T12:00:00Z", "2026-11-16", "2026-11-23"],
    ["week", "2026-11-23T00:00:00Z", "2026-11-23", "2026-11-30"],
    ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
    ["quarter", "2026-11-22T00:00:00Z", "2026-10-01", "2027-01-01"],
    ["quarter", "2026-03-31T00:00:00Z", "2026-01-01", "2026-04-01"],
    ["year", "2026-11-22T00:00:00Z", "2026-01-01", "2027-01-01"],
  ])("%s at %s is from %s to before %s", (period, now, from, until) => {
    expect(rangeOf({ period }, at(now))).toEqual({ from, until });
  });

  test.each<[Period, string, string, string]>([
    ["day", "2026-03-01T00:00:00Z", "2026-02-28", "2026-03-01"],
    ["week", "2026-11-22T12:00:00Z", "2026-11-09", "2026-11-16"],
    ["month", "2026-03-31T00:00:00Z", "2026-02-01", "2026-03-01"],
    ["quarter", "2026-02-01T00:00:00Z", "2025-10-01", "2026-01-01"],
    ["year", "2026-02-01T00:00:00Z", "2025-01-01", "2026-01-01"],
  ])("%s at %s follows the one from %s to before %s", (period, now, from, until) => {
    expect(rangeBefore(period, rangeOf({ period }, at(now)))).toEqual({ from, until });
  });
});

describe("The corresponding point of the previous period", () => {
  const point = (period: Period, now: string) => {
    const range = rangeOf({ period }, at(now));
    const before = rangeBefore(period, range);
    if (!before) throw new Error("There is a period before.");
    const { day, fraction } = samePointBefore(period, range, before, at(now));
    return `${day} ${Number(fraction)}`;
  };
  test.each<[Period, string, string]>([
    ["day", "2026-11-22T06:00:00Z", "2026-11-21 0.25"],
    ["week", "2026-11-22T12:00:00Z", "2026-11-15 0.5"],
    ["month", "2026-11-22T12:00:00Z", "2026-10-22 0.5"],
    ["month", "2026-11-01T00:00:00Z", "2026-10-01 0"],
    // A month without such a day is over by then: all of its last day counts.
    ["month", "2026-03-31T12:00:00Z", "2026-02-28 1"],
    ["month", "2026-03-29T00:00:00Z", "2026-02-28 1"],
    ["month", "2028-03-29T12:00:00Z", "2028-02-29 0.5"],
    ["month", "2026-05-31T00:00:00Z", "2026-04-30 1"],
    // Not the 1st of the month after it: the months of a quarter and a year are counted by the calendar.
    ["quarter", "2026-05-31T12:00:00Z", "2026-02-28 1"],
    ["quarter", "2026-12-31T12:00:00Z", "2026-09-30 1"],
    ["quarter", "2026-11-22T12:00:00Z", "2026-08-22 0.5"],
    ["year", "2028-02-29T12:00:00Z", "2027-02-28 1"],
    ["year", "2026-11-22T12:00:00Z", "2025-11-22 0.5"],
  ])("Of a %s at %s is %s", (period, now, expected) => {
    expect(point(period, now)).toBe(expected);
  });

  test("Is its end when this period is over, and its start when it has not begun", () => {
    const range = { from: "2026-10-01", until: "2026-10-11" };
    const before = { from: "2026-09-21", until: "2026-10-01" };
    expect(samePointBefore("range", range, before, at("2026-11-01T00:00:00Z"))).toEqual({
      day: "2026-09-30",
      fraction: "1",
    });
    expect(samePointBefore("range", range, before, at("2026-09-30T00:00:00Z"))).toEqual({
      day: "2026-09-21",
      fraction: "0",
    });
  });
});

test.each([
  ["2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
  ["2026-01-31T00:00:00Z", "2026-01-01", "2026-02-01"],
  ["0001-01-15T00:00:00Z", "0001-01-01", "0001-02-01"],
])("Reads the month %s as %s to before %s", (now, from, until) => {
  expect(monthOf(at(now))).toEqual({ from, until });
});
