import { parse as parseLossless, stringify as stringifyLossless } from "lossless-json";
import { ExactNumber } from "@/lib/contract/exact-number";

/**
 * A number with more digits than a double may hold: only then is the slower, exact parser needed. Such a run of digits in
 * a text counts as one only where the text has what may precede a number before it.
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
  // Fifteen significant digits always survive the way through a double; what is longer is kept as text.
  const significant = digits.replace(/e.*$/i, "").replace(/[^\d]/g, "").replace(/^0+/, "").length;
  return significant <= 15 ? Number(digits) : new ExactNumber(digits);
}

/** Writes JSON; ExactNumber is written as the number it is, to its last digit. */
export function writeJson(value: unknown): string {
  return stringifyLossless(value, undefined, undefined, [
    { test: (item) => item instanceof ExactNumber, stringify: (item) => (item as ExactNumber).text },
  ]) as string;
}
