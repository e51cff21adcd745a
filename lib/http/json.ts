import { parse as parseLossless, stringify as stringifyLossless } from "lossless-json";
import { ExactNumber } from "@/lib/contract/exact-number";

/** A run of digits that a double may not hold: only then is the slower, exact parser needed. */
const longNumber = /\d[\d.]{14}\d/;

/**
 * Parses JSON without losing a digit: numbers that a double cannot hold become ExactNumber, all others stay numbers.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text);
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
