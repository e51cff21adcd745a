import { parse as parseLossless, stringify as stringifyLossless } from "lossless-json";
import { ExactNumber } from "@/lib/contract/exact-number";

/**
 * A number with more digits than a double may hold, which needs the slower, exact parser. Digits inside a string match
 * only after characters that can precede a number.
 */
const longNumber = /(?:^|[[:,\s-])\d[\d.]{14,}\d/;

/** Whether a JSON text may hold a number that `JSON.parse` would round. */
export function needsExactParser(text: string): boolean {
  return longNumber.test(text);
}

/**
 * Parses JSON without losing a digit: numbers that a double cannot hold become ExactNumber, all others stay numbers.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (!needsExactParser(text)) return JSON.parse(text);
  return parseLossless(text, null, {
    parseNumber: (digits) => exactOrNumber(digits),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

function exactOrNumber(digits: string): number | ExactNumber {
  // A double keeps fifteen significant digits; longer numbers are kept as text.
  const significant = digits.replace(/e.*$/i, "").replace(/[^\d]/g, "").replace(/^0+/, "").length;
  return significant <= 15 ? Number(digits) : new ExactNumber(digits);
}

/** Writes JSON; an ExactNumber is written as a number with all its digits. */
export function writeJson(value: unknown): string {
  return stringifyLossless(value, undefined, undefined, [
    { test: (item) => item instanceof ExactNumber, stringify: (item) => (item as ExactNumber).text },
  ]) as string;
}
