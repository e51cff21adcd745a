import { expect, test } from "vitest";
import { addMonths, periodStart } from "./periods";

test.each([
  ["2026-01-31", 1, "2026-02-28"],
  ["2028-01-31", 1, "2028-02-29"],
  ["2026-01-31", 2, "2026-03-31"],
  ["2026-03-31", 1, "2026-04-30"],
  ["2026-12-31", 2, "2027-02-28"],
  ["2026-01-30", 1, "2026-02-28"],
  ["2026-03-31", -1, "2026-02-28"],
  ["2028-02-29", -24, "2026-02-28"],
  ["2026-11-15", 12, "2027-11-15"],
])("Adds to %s %i months and gets %s: a missing day becomes the month's last", (day, months, expected) => {
  expect(addMonths(day, months)).toBe(expected);
});

test("Counts periods from the first day, so that a short month does not shift later ones", () => {
  const months = [0, 1, 2, 3].map((index) => periodStart("2026-01-31", "month", index));
  expect(months).toEqual(["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]);
  const years = [0, 1, 4].map((index) => periodStart("2028-02-29", "year", index));
  expect(years).toEqual(["2028-02-29", "2029-02-28", "2032-02-29"]);
});
