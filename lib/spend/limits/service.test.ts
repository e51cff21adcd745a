import { expect, test } from "vitest";
import { countsNow } from "./service";

const budget = { starts_on: "2026-11-02", ends_on: "2026-11-20", local_ms: "" } as Parameters<
  typeof countsNow
>[0];

test.each([
  ["2026-11-01T23:59:59.999Z", false],
  ["2026-11-02T00:00:00.000Z", true],
  ["2026-11-20T23:59:59.999Z", true],
  ["2026-11-21T00:00:00.000Z", false],
])("A budget counts from its first day to the end of its last: at %s %s", (at, counts) => {
  expect(countsNow({ ...budget, local_ms: String(Date.parse(at)) })).toBe(counts);
});
