import { parse as parseLossless, stringify as stringifyLossless } from "lossless-json";
import { ExactNumber } from "@/lib/contract/exact-number";

/**
 * Matches a number that may have more digits than a double can represent. It also matches digits in a string that follow
 * a character which can precede a number; then the slower parser runs without need.
 */
const longNumber = /(?:^|[[:,\s-])\d[\d.]{14,}\d/;

/** Whether a JSON text may contain a number that `JSON.parse` would round. */
export function needsExactParser(text: string): boolean {
  return longNumber.test(text);
}

/**
 * Parses JSON without losing digits: numbers that a double cannot represent become ExactNumber, others stay numbers.
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
  // A double represents fifteen significant digits exactly.
  const significant = digits.replace(/e.*$/i, "").replace(/[^\d]/g, "").replace(/^0+/, "").length;
  return significant <= 15 ? Number(digits) : new ExactNumber(digits);
}

/** Writes JSON; an ExactNumber is written as a number with all its digits. */
export function writeJson(value: unknown): string {
  return stringifyLossless(value, undefined, undefined, [
    { test: (item) => item instanceof ExactNumber, stringify: (item) => (item as ExactNumber).text },
  ]) as string;
}
