import { describe, expect, test } from "vitest";
import type { Period } from "@/lib/contract/spend/ledger-query";
import { monthOf } from "@/lib/contract/values/month";
import { comparedRange, rangeAfter, rangeBefore, rangeOf, samePointBefore, spentWithin } from "./period";

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
    ["last_month", "2026-01-31T23:59:59Z", "2025-12-01", "2026-01-01"],
    ["last_7_days", "2026-03-02T00:00:00Z", "2026-02-24", "2026-03-03"],
    ["last_30_days", "2026-11-22T12:00:00Z", "2026-10-24", "2026-11-23"],
    ["last_90_days", "2026-11-22T12:00:00Z", "2026-08-25", "2026-11-23"],
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

describe("What a range is compared with", () => {
  const compared = (from: string, to: string, how: object = {}) => {
    const query = { period: "range" as const, from, to, ...how };
    const range = comparedRange(query, rangeOf(query, 0));
    return range && `${range.from} ${range.until}`;
  };
  test.each([
    // A whole month with the whole month before, however many days each has.
    ["2026-03-01", "2026-03-31", "2026-02-01 2026-03-01"],
    ["2026-01-01", "2026-12-31", "2025-01-01 2026-01-01"],
    ["2026-07-01", "2026-09-30", "2026-04-01 2026-07-01"],
    ["2026-03-01", "2026-03-30", "2026-01-30 2026-03-01"],
    ["2026-03-05", "2026-03-05", "2026-03-04 2026-03-05"],
  ])("Compares %s to %s with %s", (from, to, before) => {
    expect(compared(from, to)).toBe(before);
  });
  test.each([
    ["2026-03-01", "2026-03-31", "2025-03-01 2025-04-01"],
    ["2025-02-01", "2025-02-28", "2024-02-01 2024-02-29"],
    ["2024-02-29", "2024-02-29", "2023-02-28 2023-03-01"],
  ])("Compares %s to %s with %s of the year before", (from, to, before) => {
    expect(compared(from, to, { compare: "last_year" })).toBe(before);
  });
  test("Compares with chosen days, with nothing, and everything with nothing", () => {
    const chosen = { compare_from: "2025-05-01", compare_to: "2025-05-03" };
    expect(compared("2026-03-01", "2026-03-31", chosen)).toBe("2025-05-01 2025-05-04");
    expect(compared("2026-03-01", "2026-03-31", { compare: "none" })).toBeUndefined();
    expect(comparedRange({ period: "all" }, rangeOf({ period: "all" }, 0))).toBeUndefined();
  });
});

test("Steps from a range to the next and back to itself", () => {
  for (const [from, until] of [
    ["2026-01-01", "2026-02-01"],
    ["2026-01-05", "2026-01-12"],
    ["2025-10-01", "2026-01-01"],
  ] as const) {
    const next = rangeAfter("range", { from, until });
    expect(next?.from).toBe(until);
    expect(next && rangeBefore("range", next)).toEqual({ from, until });
  }
});

test("Ends what is spent with today, and begins nothing that is yet to come", () => {
  const now = at("2026-11-22T23:59:59.999Z");
  expect(spentWithin(rangeOf({ period: "month" }, now), now).until).toBe("2026-11-23");
  expect(spentWithin(rangeOf({ period: "all" }, now), now)).toEqual({
    from: "-infinity",
    until: "2026-11-23",
  });
  expect(spentWithin(rangeOf({ period: "last_month" }, now), now).until).toBe("2026-11-01");
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
