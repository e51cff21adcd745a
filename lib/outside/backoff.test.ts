import { expect, test } from "vitest";
import { readRetryAfter, retryDelayMs } from "./backoff";

test("Waits three times as long after each attempt, at most eight hours, with a quarter at random", () => {
  const seconds = [1, 2, 3, 4, 7, 9, 20, 1000].map((attempts) => retryDelayMs(attempts, 0.5) / 1000);
  expect(seconds).toEqual([5, 15, 45, 135, 3645, 28_800, 28_800, 28_800]);
  expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([3_750, 6_250]);
});

const now = Date.parse("2026-11-21T09:30:00Z");

test.each([
  [undefined, undefined],
  ["120", 120_000],
  ["0.35", 350],
  ["Sat, 21 Nov 2026 09:31:00 GMT", 60_000],
  ["Sat, 21 Nov 2026 09:29:00 GMT", 0],
  ["999999999", 24 * 3_600_000],
  ["soon", undefined],
  ["-5", undefined],
])("Reads the Retry-After %s as %s ms", (header, ms) => {
  expect(readRetryAfter(header, now)).toBe(ms);
});
