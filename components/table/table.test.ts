import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TableColumn } from "./column";
import { compareDecimals, compareValues } from "./compare";
import { toTableCsv } from "./save-csv";
import { searchRows } from "./search";
import { readViewCookie, viewCookie, writeViewCookie } from "./view-cookie";

/** Decimal text with up to 30 digits on either side of the point, with zeros at its ends. */
const decimal = fc
  .tuple(fc.constantFrom("", "-"), fc.bigInt(0n, 10n ** 30n), fc.stringMatching(/^\d{0,30}$/))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction && `.${fraction}`}`);

/** A decimal as units of 1e-30. */
function toUnits(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + fraction.padEnd(30, "0"));
  return text.startsWith("-") ? -size : size;
}

test("Compares decimals exactly, whatever their number of digits", () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const [left, right] = [toUnits(a), toUnits(b)];
      expect(Math.sign(compareDecimals(a, b))).toBe(left < right ? -1 : left > right ? 1 : 0);
    }),
  );
  // The nearest doubles of these are equal.
  expect(compareDecimals("8.500000000000000001", "8.500000000000000002")).toBeLessThan(0);
  expect(compareDecimals("900000000000.000000000001", "900000000000")).toBeGreaterThan(0);
  expect(compareDecimals("-0.00", "0")).toBe(0);
});

test("Compares names by their numbers, times by their instants", () => {
  const sorted = ["key 10", "Key 2", "ärger", "apple"].sort((a, b) => compareValues("text", a, b));
  expect(sorted).toEqual(["apple", "ärger", "Key 2", "key 10"]);
  expect(compareValues("time", "2026-11-22T10:00:00+02:00", "2026-11-22T09:00:00Z")).toBeLessThan(0);
  expect(compareValues("count", 9, 10)).toBeLessThan(0);
});

type Row = { name: string; usd: string; at: string | null };
const columns: TableColumn<Row>[] = [
  { id: "name", label: "Name", part: "name", value: ({ name }) => name, cell: ({ name }) => name },
  { id: "usd", label: "Spent, USD", kind: "usd", value: ({ usd }) => usd, cell: ({ usd }) => usd },
  { id: "at", label: "Used", kind: "time", value: ({ at }) => at, cell: ({ at }) => at },
  { id: "do", label: "Actions", part: "actions", cell: () => null },
];
const rows: Row[] = [
  { name: "Zoë’s key", usd: "1234.5", at: "2026-11-22T10:00:00Z" },
  { name: "checkout", usd: "8.500000000000000001", at: null },
  { name: "مشروع الدفع", usd: "-0.3", at: null },
];
const found = (typed: string, shown = columns) => searchRows(rows, shown, typed).map(({ name }) => name);

test("Searches without regard to case and accents, for every word, in any column that is shown", () => {
  expect(found("ZOE")).toEqual(["Zoë’s key"]);
  expect(found("key nov 22")).toEqual(["Zoë’s key"]);
  expect(found("$1,234.50")).toEqual(["Zoë’s key"]);
  expect(found("8.500000000000000001")).toEqual(["checkout"]);
  expect(found("الدفع")).toEqual(["مشروع الدفع"]);
  expect(found("key checkout")).toEqual([]);
  expect(found("  ")).toHaveLength(3);
  expect(found("nov 22", columns.slice(0, 2))).toEqual([]);
});

test("Writes a CSV of the columns that is read as what is shown, in which no text is a formula", () => {
  const csv = toTableCsv([...rows, { name: '=HYPERLINK("x"),\r\n"a"', usd: "1e", at: null }], columns);
  expect(parse(csv)).toEqual([
    ["Name", "Spent, USD", "Used"],
    ["Zoë’s key", "1234.5", "2026-11-22T10:00:00Z"],
    ["checkout", "8.500000000000000001", ""],
    ["مشروع الدفع", "-0.3", ""],
    ['\'=HYPERLINK("x"),\r\n"a"', "1e", ""],
  ]);
  expect(csv.endsWith("\r\n")).toBe(true);
  expect(toTableCsv(rows.slice(0, 1), columns.slice(1, 2))).toBe('"Spent, USD"\r\n1234.5\r\n');
});

/** The value of a cookie that was written. */
const writtenIn = (cookie: string) =>
  decodeURIComponent(cookie.slice(viewCookie.length + 1).split(";")[0] ?? "");

test("Remembers the view of a table for one user, and ignores what it did not write", () => {
  const views = { keys: { isCompact: true, hidden: ["expires"] }, plain: { isCompact: false, hidden: [] } };
  const value = writtenIn(writeViewCookie("ada", views, true));
  expect(readViewCookie("ada", value)).toEqual({ keys: views.keys });
  expect(readViewCookie("grace", value)).toEqual({});
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((text) => `{"owner":"ada","views":${text}}`),
      ),
      (text) => {
        for (const view of Object.values(readViewCookie("ada", text)))
          expect(view).toEqual({ isCompact: expect.any(Boolean), hidden: expect.any(Array) });
      },
    ),
  );
  expect(readViewCookie("ada", undefined)).toEqual({});
});
