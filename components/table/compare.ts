import type { CellValue, TableColumn } from "./column";

/** Compares names as people sort them: without regard to case and accents, "key 2" before "key 10". */
const names = new Intl.Collator("en-US", { numeric: true, sensitivity: "base" });

/**
 * Compares two decimals by their digits, because doubles would take amounts for equal that differ in a late digit.
 * @param a decimal text without an exponent, as is `b`
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` expects
 */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (left.sign !== right.sign) return left.sign - right.sign;
  return left.sign * compareSizes(left, right);
}

type Size = { whole: string; fraction: string };

function parse(text: string): Size & { sign: -1 | 0 | 1 } {
  const isNegative = text.startsWith("-");
  const [whole = "", fraction = ""] = (isNegative ? text.slice(1) : text).split(".");
  const size = { whole: whole.replace(/^0+/, ""), fraction: fraction.replace(/0+$/, "") };
  if (size.whole === "" && size.fraction === "") return { ...size, sign: 0 };
  return { ...size, sign: isNegative ? -1 : 1 };
}

function compareSizes(a: Size, b: Size): number {
  if (a.whole.length !== b.whole.length) return a.whole.length - b.whole.length;
  // Digits of equal length compare as text, and so do fractions.
  if (a.whole !== b.whole) return a.whole < b.whole ? -1 : 1;
  if (a.fraction === b.fraction) return 0;
  return a.fraction < b.fraction ? -1 : 1;
}

/** Compares two values of a column, in ascending order. */
export function compareValues(
  kind: TableColumn<unknown>["kind"],
  a: NonNullable<CellValue>,
  b: NonNullable<CellValue>,
): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (kind === "usd" || kind === "decimal") return compareDecimals(String(a), String(b));
  if (kind === "time") return Date.parse(String(a)) - Date.parse(String(b));
  return names.compare(String(a), String(b));
}
