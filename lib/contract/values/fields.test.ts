import { expect, test } from "vitest";
import { ExactNumber } from "./exact-number";
import { instant, positiveDecimal } from "./fields";

const issueOf = (value: unknown) => positiveDecimal("").safeParse(value).error?.issues[0]?.message;

test.each([1e-18, 1.5e-7, 5e-7, 0.000001, 1e14, 999_999_999_999_999, 1.0e-12])(
  "Accepts %d in JavaScript's notation",
  (value) => {
    expect(issueOf(value)).toBeUndefined();
  },
);

test.each([
  [1e-19, "must have at most 18 decimals"],
  [1.234567890123e-7, "must have at most 18 decimals"],
  [new ExactNumber("1.000000000000000001e-1"), "must have at most 18 decimals"],
  [1e15, "must be less than 1e15"],
  [new ExactNumber(`0.1${"0".repeat(200)}`), "must be written in at most 100 characters"],
  [-1e-7, "must be greater than 0"],
  [0, "must be greater than 0"],
])("Refuses %d: %s", (value, message) => {
  expect(issueOf(value)).toBe(message);
});

test("Accepts a float's noise in a cost that is rounded", () => {
  const noisy = 123 * 1.5e-7;
  expect(String(noisy)).toBe("0.000018449999999999998");
  expect(positiveDecimal("", { rounded: true }).parse(noisy)).toBe("0.000018449999999999998");
  expect(positiveDecimal("", { rounded: true }).safeParse(1e-61).success).toBe(false);
});

test.each([
  ["0000-12-31T23:59:59Z", "must be in the years 1 to 9999"],
  ["0001-01-01T00:30:00+01:00", "must be in the years 1 to 9999"],
  ["9999-12-31T23:59:59-01:00", "must be in the years 1 to 9999"],
  ["2026-11-21T00:00:00+16:00", "must have an offset of less than 16 hours"],
  ["2026-11-21T00:00:00-23:59", "must have an offset of less than 16 hours"],
  ["2026-11-21", "must be an ISO 8601 date and time with an offset, like 2026-11-21T09:30:00Z"],
])("Refuses the instant %s, which cannot be stored: %s", (value, message) => {
  expect(instant.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual([message]);
});

test.each([
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "2026-11-21T00:00:00+15:59",
  "2026-11-21T00:00:00-15:59",
])("Accepts the instant %s", (value) => expect(instant.safeParse(value).success).toBe(true));
