import fc from "fast-check";
import { expect, test } from "vitest";
import { extentOf, toShares } from "@/components/charts/series";
import type { ExploreData } from "./data";
import { rowsHref } from "./rows-href";
import { type ExploreState, problemOf, readState, writeState } from "./state";
import { toCsv } from "./to-csv";

const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const state: fc.Arbitrary<ExploreState> = fc.record({
  by: fc.constantFrom("project", "model", "tag:team", "day", "unit"),
  over: fc.constantFrom(null, "day", "month", "key", "tag:region", "user"),
  measure: fc.constantFrom<ExploreState["measure"][]>("cost", "messages", "tokens", "cost_per_message"),
  show: fc.constantFrom<ExploreState["show"][]>("chart", "table", "pivot"),
  chart: fc.constantFrom<ExploreState["chart"][]>("stacked", "lines", "share"),
  top: fc.constantFrom(3, 8, 50),
  days: fc.constantFrom<ExploreState["days"][]>(
    { period: undefined, from: undefined, to: undefined },
    { period: "range", from: "2026-01-01", to: "2026-02-01" },
    { period: "all", from: undefined, to: undefined },
    { period: "month", compare: "last_year" },
    { period: "month", compare: "range", compare_from: "2025-01-01", compare_to: "2025-01-31" },
  ),
  environment: fc.constantFrom<ExploreState["environment"][]>("live", "test"),
  filters: fc.uniqueArray(
    fc.record({
      field: fc.constantFrom("model", "user", "tag:team"),
      op: fc.constantFrom<("is" | "is_not")[]>("is", "is_not"),
      values: fc.uniqueArray(fc.oneof(text, fc.constant("")), { minLength: 1, maxLength: 3 }),
    }),
    { selector: ({ field, op }) => `${op} ${field}`, maxLength: 3 },
  ),
  hidden: fc.uniqueArray(text, { maxLength: 3 }),
  history: fc.constantFrom<ExploreState["history"][]>("on", "off", undefined),
});

/** The parameters of an address as Next passes them. */
function parametersOf(query: string) {
  const params: Record<string, string | string[]> = {};
  for (const name of new Set(new URLSearchParams(query).keys())) {
    const values = new URLSearchParams(query).getAll(name);
    params[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  return params;
}

test("Keeps all of what it shows in the address", () => {
  fc.assert(
    fc.property(state, (given) => {
      const sorted = (of: ExploreState) => ({
        ...of,
        filters: [...of.filters].sort((a, b) => `${a.op} ${a.field}`.localeCompare(`${b.op} ${b.field}`)),
      });
      expect(sorted(readState(parametersOf(writeState(given))))).toEqual(sorted(given));
    }),
  );
});

const sums = (measured: string) => ({ cost: measured, messages: 1, measured });
const group = (label: string, measured: string) => ({
  value: label,
  label,
  isRest: false,
  colour: "red",
  ...sums(measured),
});
const data: ExploreData = {
  from: "2026-01-01",
  to: "2026-02-10",
  totals: sums("-2.5"),
  rows: [group("=cmd()", "-3"), { ...group("Other (2)", "0.5"), isRest: true, value: null }],
  columns: [group("2026-01-01", "-3"), group("2026-02-01", "0.5")],
  cells: [
    { row: 0, column: 0, ...sums("-3") },
    { row: 1, column: 1, ...sums("0.5") },
  ],
  comparison: null,
};
const shown = { ...readState({}), by: "model", over: "month" };

test("Writes a CSV with all digits, in which no name is a formula", () => {
  expect(toCsv({ ...shown, show: "pivot" }, data)).toBe(
    "Model,2026-01,2026-02,Total\r\n'=cmd(),-3,,-3\r\nOther (2),,0.5,0.5\r\nTotal,-3,0.5,-2.5\r\n",
  );
});

test("Writes days in a CSV as they are in all files, whatever the chart calls them", () => {
  const named = { ...data, columns: data.columns.map((column) => ({ ...column, label: "1.11." })) };
  expect(toCsv({ ...shown, over: "day" }, named)).toBe(
    "Model,Day,Cost,Messages\r\n'=cmd(),2026-01-01,-3,1\r\nOther (2),2026-02-01,0.5,1\r\n",
  );
});

test("Names the parameter of an address that is none of its few values", () => {
  expect(problemOf({ measure: "foo" })).toMatch(/^measure must be one of: cost, messages, /);
  expect(problemOf({ show: "list" })).toBe("show must be one of: chart, table, pivot");
  expect(
    problemOf({ measure: "tokens", show: "pivot", chart: "share", environment: "test" }),
  ).toBeUndefined();
});

test("Leads from a cell to its rows, and nowhere where activity cannot show them", () => {
  const range = { from: data.from, to: data.to };
  const month = { dimension: "month", group: data.columns[1] };
  const href = rowsHref("acme", shown, range, [{ dimension: "model", group: data.rows[0] }, month]);
  expect(Object.fromEntries(new URL(href ?? "", "http://x").searchParams)).toEqual({
    period: "range",
    environment: "live",
    from: "2026-02-01",
    to: "2026-02-10",
    model: "=cmd()",
  });
  expect(rowsHref("acme", shown, range, [{ dimension: "model", group: data.rows[1] }])).toBeUndefined();
  expect(rowsHref("acme", shown, range, [{ dimension: "unit", group: data.rows[0] }])).toBeUndefined();
  const filtered = (filters: ExploreState["filters"]) =>
    rowsHref("acme", { ...shown, filters }, range, [month]);
  expect(filtered([{ field: "user", op: "is", values: ["bo"] }])).toContain("user=bo");
  expect(filtered([{ field: "user", op: "is", values: ["bo", "cy"] }])).toBeUndefined();
  expect(filtered([{ field: "user", op: "is_not", values: ["bo"] }])).toBeUndefined();
  const tag = { dimension: "tag:team", group: data.rows[0] };
  expect(rowsHref("acme", shown, range, [tag])).toContain("tag=team%3A%3Dcmd%28%29");
});

test("Draws amounts below zero below the axis, and shares of what is moved either way", () => {
  const series = [
    { name: "a", colour: "red", values: [6, -2] },
    { name: "b", colour: "red", values: [-2, -2] },
  ];
  expect(extentOf(series, "stacked")).toEqual([-4, 6]);
  expect(extentOf(series, "lines")).toEqual([-2, 6]);
  expect(toShares(series).map(({ values }) => values)).toEqual([
    [0.75, -0.5],
    [-0.25, -0.5],
  ]);
});
