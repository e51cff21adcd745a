import { parse as parseLossless } from "lossless-json";
import { ExactNumber } from "@/lib/contract/values/exact-number";

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

/** A number as JSON writes it. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Writes JSON as `JSON.stringify` does; an ExactNumber is written as a number with all its digits, and a bigint as a number. It takes
 * a quarter of the time of a writer that is given functions for numbers: answers have thousands of them.
 * @throws Error for an ExactNumber that is not a number in JSON
 */
export function writeJson(value: unknown): string {
  return written(value) as string;
}

/** @returns undefined for what JSON has no notation of */
function written(value: unknown): string | undefined {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object") return JSON.stringify(value);
  if (value instanceof ExactNumber) {
    if (!jsonNumber.test(value.text)) throw new Error(`"${value.text}" is not a number in JSON.`);
    return value.text;
  }
  if (Array.isArray(value)) return writtenList(value);
  if ("toJSON" in value && typeof value.toJSON === "function") return written(value.toJSON());
  return writtenFields(value as Record<string, unknown>);
}

// Both add to a text: lists of texts to join take twice as long.

function writtenList(list: readonly unknown[]): string {
  let text = "";
  for (const item of list) text += `${text && ","}${written(item) ?? "null"}`;
  return `[${text}]`;
}

function writtenFields(fields: Record<string, unknown>): string {
  let text = "";
  for (const name of Object.keys(fields)) {
    const value = written(fields[name]);
    if (value !== undefined) text += `${text && ","}${writtenName(name)}${value}`;
  }
  return `{${text}}`;
}

/** Names of fields as JSON writes them: the answers of the service have the same few in all of their elements. */
const writtenNames = new Map<string, string>();
const maxWrittenNames = 1_000;

function writtenName(name: string): string {
  const known = writtenNames.get(name);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(name)}:`;
  if (writtenNames.size < maxWrittenNames) writtenNames.set(name, text);
  return text;
}
