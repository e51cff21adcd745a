import { z } from "zod";
import { ExactNumber } from "./exact-number";

/** Limits of the ledger's decimals: 15 digits before the point and 18 after it. */
const maxIntegerDigits = 15;
const maxDecimals = 18;

/** The most decimals of a cost that is rounded, for clients that compute with floats (0.1 + 0.2 has 17, 123 × 1.5e-7 has 21). */
const maxRoundedDecimals = 60;

/** The longest text of a number. Computed numbers are shorter, and the code's decimals refuse longer text. */
const maxTextLength = 100;

/** Splits a JSON number's text into the digits before and after the point, without an exponent. */
function measure(text: string): { integerDigits: number; decimals: number } {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().replace(/^-/, "").split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const shift = Number(exponent);
  const significant = (whole + fraction).replace(/0+$/, "");
  return {
    integerDigits: (whole + fraction).replace(/^0+/, "").length - fraction.length + shift,
    decimals: Math.max(0, significant.length - whole.length - shift),
  };
}

/**
 * A positive decimal: a JSON number on the wire, exact text in the code, for `lib/decimal`. Refuses
 * zero, negative numbers and what the ledger cannot hold exactly. With `rounded`, more decimals are accepted, and the
 * code that computes with the number rounds it.
 */
export function positiveDecimal(description: string, { orZero = false, rounded = false } = {}) {
  const decimalsTaken = rounded ? maxRoundedDecimals : maxDecimals;
  return z
    .custom<number | ExactNumber>((value) => typeof value === "number" || value instanceof ExactNumber, {
      error: (issue) => (issue.input === undefined ? "is required" : "must be a number"),
    })
    .transform((value, context) => {
      // A whole number within the limits needs no check of its digits. Most quantities are whole.
      if (typeof value === "number" && value > 0 && value < 10 ** maxIntegerDigits && Number.isInteger(value))
        return String(value);
      const text = value instanceof ExactNumber ? value.text : String(value);
      const number = Number(text);
      const { integerDigits, decimals } = measure(text);
      if (number < 0 || (!orZero && number === 0) || Number.isNaN(number)) {
        context.addIssue(orZero ? "must be 0 or more" : "must be greater than 0");
      } else if (!Number.isFinite(number) || integerDigits > maxIntegerDigits) {
        context.addIssue(`must be less than 1e${maxIntegerDigits}`);
      } else if (decimals > decimalsTaken) {
        context.addIssue(`must have at most ${decimalsTaken} decimals`);
      } else if (text.length > maxTextLength) {
        context.addIssue(`must be written in at most ${maxTextLength} characters`);
      }
      return text;
    })
    .meta({
      description,
      jsonSchema: {
        type: "number",
        ...(orZero ? { minimum: 0 } : { exclusiveMinimum: 0 }),
        exclusiveMaximum: 10 ** maxIntegerDigits,
      },
    });
}

/** A decimal in a response: a JSON number with all its digits. */
export function decimalNumber(description: string) {
  return z
    .custom<ExactNumber | number>((value) => value instanceof ExactNumber || typeof value === "number")
    .meta({ description, jsonSchema: { type: "number" } });
}

/** Text that Postgres can hold (no NUL, no lone surrogate), within `max` characters. */
export function text(max: number, description?: string) {
  const schema = z
    .string()
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes("\u0000"),
      "must not contain NUL or broken Unicode",
    );
  return description ? schema.meta({ description }) : schema;
}

/** A project's slug. */
export const projectSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    "must be a slug: 1 to 64 lower-case letters, digits, dots, dashes or underscores, beginning with a letter or digit",
  )
  .meta({
    description: "Project slug. The project is created the first time its slug is used.",
    examples: ["checkout"],
  });

/** The first and the last instant that can be stored, in milliseconds since 1970. */
export const [firstInstantMs, lastInstantMs] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"].map(
  Date.parse,
) as [number, number];

const instantHint = "must be an ISO 8601 date and time with an offset, like 2026-11-21T09:30:00Z";

/** Seconds may be left out (ISO 8601-1, 5.3.1.3), and `t` and `z` may be lower case (RFC 3339, 5.6). */
function spellOut(instant: string): string {
  return instant.toUpperCase().replace(/T\d\d:\d\d(?=[Z+-])/, "$&:00");
}

/**
 * An instant, ISO 8601 with an offset, kept as text. Postgres can read it, and its year has four digits. Seconds are
 * added and letters are upper-cased, so that one instant in several notations becomes one text.
 */
export const instant = z
  .string({ error: (issue) => (issue.input === undefined ? "is required" : instantHint) })
  .overwrite(spellOut)
  .check(z.iso.datetime({ offset: true, abort: true, error: instantHint }))
  .refine((value) => Date.parse(value) >= firstInstantMs && Date.parse(value) <= lastInstantMs, {
    error: "must be in the years 1 to 9999",
    abort: true,
  })
  .refine((value) => !/[+-](1[6-9]|2\d):\d\d$/.test(value), "must have an offset of less than 16 hours")
  .meta({ format: "date-time" });

/** A calendar day in UTC, `YYYY-MM-DD`. */
export const day = z.iso.date({ abort: true, error: "must be a date, like 2026-11-21" });

export const uuid = z.uuid();

/**
 * The query parameter for the number of rows in a response.
 * @param most the largest accepted number
 * @param usual the default
 */
export function rowLimit(most: number, usual: number, description?: string) {
  const error = `must be a whole number from 1 to ${most}`;
  return z.coerce
    .number({ error })
    .int({ error })
    .min(1, { error })
    .max(most, { error })
    .default(usual)
    .meta({
      ...(description !== undefined && { description }),
      jsonSchema: { type: "integer", minimum: 1, maximum: most, default: usual },
    });
}
