import { expect, test } from "vitest";
import { comparisonOf, periodOf, rangeQuery } from "./ledger-query";

const problems = (query: Record<string, string>) =>
  rangeQuery.safeParse(query).error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];

test.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ from: "2026-11-01", to: "2026-11-02" }, []],
  [{ period: "range", from: "2026-11-02", to: "2026-11-02" }, []],
  [{ from: "2026-11-02" }, ["to is required with period=range"]],
  [{ to: "2026-11-02" }, ["from is required with period=range"]],
  [{ period: "range" }, ["from is required with period=range", "to is required with period=range"]],
  [{ period: "week", from: "2026-11-02" }, ["from can only be set with period=range"]],
  [{ from: "2026-11-02", to: "2026-11-01" }, ["to must not be before from"]],
  [{ from: "2026-02-30", to: "2026-03-01" }, ["from must be a date, like 2026-11-21"]],
  [{ compare: "last_year" }, []],
  [
    { compare: "range" },
    ["compare_from is required with compare=range", "compare_to is required with compare=range"],
  ],
  [{ compare_from: "2026-01-01", compare_to: "2026-01-31" }, []],
  [{ compare_from: "2026-02-01", compare_to: "2026-01-31" }, ["compare_to must not be before compare_from"]],
  [{ compare: "none", compare_from: "2026-01-01" }, ["compare_from can only be set with compare=range"]],
  [{ period: "all", compare: "none" }, []],
  [
    { period: "all", compare: "previous" },
    ["compare cannot be set with period=all, which has no period to compare with"],
  ],
])("Says of %j what is wrong with which field", (query, expected) => {
  expect(problems(query)).toEqual(expected);
});

test("Reads days alone as a range of them, and everything as compared with nothing", () => {
  expect(periodOf({ from: "2026-11-01", to: "2026-11-02" })).toBe("range");
  expect(periodOf({})).toBe("month");
  expect(comparisonOf({ compare_from: "2026-01-01", compare_to: "2026-01-31" })).toBe("range");
  expect(comparisonOf({})).toBe("previous");
  expect(comparisonOf({ period: "all" })).toBe("none");
});
