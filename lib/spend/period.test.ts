import { describe, expect, test } from "vitest";
import type { Period } from "@/lib/contract/spend/ledger-query";
import { monthOf } from "@/lib/contract/values/month";
import {
  type ComparedQuery,
  comparedWith,
  rangeAfter,
  rangeBefore,
  rangeOf,
  spentWithin,
  toAnsweredStretch,
} from "./period";

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
    ["year_to_date", "2026-11-22T23:59:59.999Z", "2026-01-01", "2026-11-23"],
    ["year_to_date", "2026-12-31T00:00:00Z", "2026-01-01", "2027-01-01"],
    ["last_month", "2026-01-31T23:59:59Z", "2025-12-01", "2026-01-01"],
    ["last_quarter", "2026-12-31T23:59:59Z", "2026-07-01", "2026-10-01"],
    ["last_quarter", "2026-02-01T00:00:00Z", "2025-10-01", "2026-01-01"],
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
    ["last_quarter", "2026-02-01T00:00:00Z", "2025-07-01", "2025-10-01"],
    ["year_to_date", "2026-11-22T00:00:00Z", "2025-01-01", "2025-11-23"],
    ["year_to_date", "2028-02-29T00:00:00Z", "2027-01-01", "2027-03-01"],
  ])("%s at %s follows the one from %s to before %s", (period, now, from, until) => {
    expect(rangeBefore(period, rangeOf({ period }, at(now)))).toEqual({ from, until });
  });
});

describe("What a range is compared with", () => {
  const compared = (from: string, to: string, how: object = {}) => {
    const query = { period: "range" as const, from, to, ...how };
    const range = comparedWith(query, at("2026-11-24T14:05:00Z"))?.whole;
    return range && `${range.from} ${range.until}`;
  };
  test.each([
    // A whole month is compared with the whole month before, whatever their lengths.
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
    // A week from Monday to Sunday is compared with such a week.
    ["2026-11-16", "2026-11-22", "2025-11-17 2025-11-24"],
  ])("Compares %s to %s with %s of the year before", (from, to, before) => {
    expect(compared(from, to, { compare: "last_year" })).toBe(before);
  });
  test("Compares with chosen days, with nothing, and everything with nothing", () => {
    const chosen = { compare_from: "2025-05-01", compare_to: "2025-05-03" };
    expect(compared("2026-03-01", "2026-03-31", chosen)).toBe("2025-05-01 2025-05-04");
    expect(compared("2026-03-01", "2026-03-31", { compare: "none" })).toBeUndefined();
    expect(comparedWith({ period: "all" }, 0)).toBeUndefined();
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

describe("The stretch that a period is compared with", () => {
  const stretch = (query: ComparedQuery, now: string) => {
    const compared = comparedWith(query, at(now));
    const answered = compared && toAnsweredStretch(compared, false, "UTC");
    if (!compared || !answered) return null;
    const { from, to, until, aligned_by: by } = answered;
    const { days, cut } = compared.stretch;
    expect(cut?.day ?? days.until).toBe(days.until);
    return `${from} ${to} ${until?.slice(0, 19) ?? "whole"} ${by}`;
  };
  const month = { period: "range", from: "2026-11-01", to: "2026-11-30" } as const;
  test.each<[ComparedQuery, string, string]>([
    [{ period: "day" }, "2026-11-22T06:00:00Z", "2026-11-21 2026-11-21 2026-11-21T06:00:00 day"],
    [{ period: "week" }, "2026-11-22T12:00:00Z", "2026-11-09 2026-11-15 2026-11-15T12:00:00 day"],
    [
      { period: "week", compare: "last_year" },
      "2026-11-24T12:00:00Z",
      "2025-11-24 2025-11-25 2025-11-25T12:00:00 day",
    ],
    // A month is compared from the same weekday on, whichever way it is requested: November 1 and October 4 are Sundays.
    [{ period: "month" }, "2026-11-23T14:05:00Z", "2026-10-04 2026-10-26 2026-10-26T14:05:00 weekday"],
    [month, "2026-11-23T14:05:00Z", "2026-10-04 2026-10-26 2026-10-26T14:05:00 weekday"],
    [{ period: "month" }, "2026-11-01T00:00:00Z", "2026-10-04 2026-10-04 2026-10-04T00:00:00 weekday"],
    // The number of days is always the same, also at the end of a month and in the shortest month.
    [{ period: "month" }, "2026-11-30T23:00:00Z", "2026-10-04 2026-11-02 2026-11-02T23:00:00 weekday"],
    [{ period: "month" }, "2026-03-31T12:00:00Z", "2026-02-01 2026-03-03 2026-03-03T12:00:00 weekday"],
    [
      { period: "month", compare: "last_year" },
      "2026-11-23T14:05:00Z",
      "2025-11-02 2025-11-24 2025-11-24T14:05:00 weekday",
    ],
    [
      { period: "month", compare_from: "2026-01-01", compare_to: "2026-01-10" },
      "2026-11-08T06:00:00Z",
      "2026-01-01 2026-01-08 2026-01-08T06:00:00 day",
    ],
    [
      { period: "month", compare_from: "2026-01-01", compare_to: "2026-01-10" },
      "2026-11-22T06:00:00Z",
      "2026-01-01 2026-01-10 whole day",
    ],
    [{ period: "last_month" }, "2026-11-22T06:00:00Z", "2026-09-01 2026-09-30 whole day"],
    [{ period: "last_7_days" }, "2026-11-22T06:00:00Z", "2026-11-09 2026-11-15 2026-11-15T06:00:00 day"],
    // A quarter is compared with as many days, a year with the days up to the same date.
    [{ period: "quarter" }, "2026-11-22T12:00:00Z", "2026-07-01 2026-08-22 2026-08-22T12:00:00 day"],
    [{ period: "quarter" }, "2026-05-31T12:00:00Z", "2026-01-01 2026-03-02 2026-03-02T12:00:00 day"],
    [{ period: "quarter" }, "2026-06-30T12:00:00Z", "2026-01-01 2026-03-31 whole day"],
    [{ period: "year" }, "2026-11-22T12:00:00Z", "2025-01-01 2025-11-22 2025-11-22T12:00:00 day"],
    [{ period: "year" }, "2028-02-29T12:00:00Z", "2027-01-01 2027-02-28 whole day"],
    [{ period: "year_to_date" }, "2026-11-22T12:00:00Z", "2025-01-01 2025-11-22 2025-11-22T12:00:00 day"],
    // The same holds if the year up to today is a whole month, and after February 29.
    [{ period: "year_to_date" }, "2026-01-31T12:00:00Z", "2025-01-01 2025-01-31 2025-01-31T12:00:00 day"],
    [{ period: "year_to_date" }, "2028-02-29T12:00:00Z", "2027-01-01 2027-02-28 whole day"],
    [{ period: "year_to_date" }, "2028-06-10T12:00:00Z", "2027-01-01 2027-06-10 2027-06-10T12:00:00 day"],
    [{ period: "last_quarter" }, "2026-11-22T12:00:00Z", "2026-04-01 2026-06-30 whole day"],
  ])("Of %j at %s is %s", (query, now, expected) => {
    expect(stretch(query, now)).toBe(expected);
  });

  test("Is nothing before the period begins, and has no days to come", () => {
    const coming = { period: "range", from: "2026-12-01", to: "2026-12-31" } as const;
    expect(stretch(coming, "2026-11-22T12:00:00Z")).toBeNull();
    expect(
      stretch(
        { period: "last_month", compare_from: "2026-11-20", compare_to: "2026-11-30" },
        "2026-11-22T12:00:00Z",
      ),
    ).toBe("2026-11-20 2026-11-22 whole day");
  });

  test("Lies on the days that a chart draws behind its own", () => {
    expect(comparedWith({ period: "month" }, at("2026-11-23T14:05:00Z"))).toMatchObject({
      whole: { from: "2026-10-01", until: "2026-11-01" },
      aligned: { from: "2026-10-04", until: "2026-11-03" },
    });
    expect(comparedWith({ period: "last_month" }, at("2026-11-23T14:05:00Z"))?.aligned).toEqual({
      from: "2026-09-01",
      until: "2026-10-01",
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
