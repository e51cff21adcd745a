import Big from "big.js";

declare const brand: unique symbol;

/**
 * An exact decimal number: an amount, quantity or rate. The type is opaque, so that only the functions of this file compute with it and
 * no amount passes through float arithmetic. It serialises to JSON as text.
 */
export type Decimal = { readonly [brand]: "Decimal"; toString(): string; toJSON(): string };

/** The number of decimals with which the ledger stores amounts. */
export const moneyScale = 18;

const halfEven = 2;

/** A separate constructor, so that its settings and those of other users of big.js do not affect each other. */
const Exact = Big();
Exact.strict = true; // `+decimal` throws instead of losing digits
Exact.NE = -1_000_000; // toString never uses exponents
Exact.PE = 1_000_000;
Exact.DP = moneyScale;
Exact.RM = halfEven;

// Longer texts are refused, because they could take seconds of CPU. Every finite JS number is shorter (5e-324 to 1.8e308).
const maxTextLength = 400;
const maxExponent = 400;
const plain = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,4}))?$/i;

const big = (value: Decimal): Big => value as unknown as Big;
const decimal = (value: Big): Decimal => value as unknown as Decimal;

/** A text or number is not a finite decimal, or is too long. */
export class DecimalError extends Error {
  override name = "DecimalError";
}

/**
 * Parses a decimal exactly. A JS number is converted by its shortest round-trip text, so 0.1 is one tenth and not the
 * nearest binary fraction.
 * @param value decimal text (`-1.5`, `.5`, `1e-12`), a finite number or a bigint
 * @throws DecimalError on NaN, an infinity, other text, or magnitudes beyond 1e±400
 */
export function parseDecimal(value: string | number | bigint): Decimal {
  const text = typeof value === "string" ? value : String(value);
  const match = text.length <= maxTextLength ? plain.exec(text) : null;
  if (!match || (match[1] !== undefined && Math.abs(Number(match[1])) > maxExponent)) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new DecimalError(`"${shown}" is not a decimal number the service can compute with`);
  }
  return decimal(new Exact(text));
}

export const zero: Decimal = parseDecimal("0");

/** a + b, exactly. */
export function add(a: Decimal, b: Decimal): Decimal {
  return decimal(big(a).plus(big(b)));
}

/** a − b, exactly. */
export function subtract(a: Decimal, b: Decimal): Decimal {
  return decimal(big(a).minus(big(b)));
}

/** a × b, exactly. */
export function multiply(a: Decimal, b: Decimal): Decimal {
  return decimal(big(a).times(big(b)));
}

/** The exact sum of any number of decimals; zero for none. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = big(zero);
  for (const value of values) total = total.plus(big(value));
  return decimal(total);
}

/** -1 when a < b, 0 when they are equal, 1 when a > b. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  return big(a).cmp(big(b));
}

/** The amount without its sign. */
export function absolute(value: Decimal): Decimal {
  return decimal(big(value).abs());
}

/** Whether a value is 0. */
export function isZero(value: Decimal): boolean {
  return big(value).c[0] === 0;
}

/** The number of decimals of a value, without trailing zeros: 1.50 has one. */
export function countDecimals(value: Decimal): number {
  const { c, e } = big(value);
  return Math.max(0, c.length - 1 - e);
}

/** value × 10^places, exact: converts for example "per million" to "per one". */
export function shiftDecimal(value: Decimal, places: number): Decimal {
  if (isZero(value)) return value;
  const shifted = new Exact(big(value));
  shifted.e += places;
  return decimal(shifted);
}

/** Rounds half-even to the scale the ledger stores, 18 decimals. */
export function roundMoney(value: Decimal): Decimal {
  return countDecimals(value) <= moneyScale ? value : decimal(big(value).round(moneyScale, halfEven));
}

const roundings = { down: 0, nearest: halfEven, up: 3 } as const;

/** Rounds to a number of decimals, negative for tens and hundreds. `down` is towards zero, `up` away from zero, `nearest` half-even. */
export function roundTo(value: Decimal, decimals: number, mode: keyof typeof roundings): Decimal {
  return decimal(big(value).round(decimals, roundings[mode]));
}

/** a ÷ b, rounded once, half-even, to 18 decimals. @throws DecimalError if b is zero */
export function divideMoney(a: Decimal, b: Decimal): Decimal {
  if (isZero(b)) throw new DecimalError("Division by zero");
  return decimal(big(a).div(big(b)));
}

/** Plain notation: no exponent, no trailing zeros, no "-0". */
export function toText(value: Decimal): string {
  return big(value).toString();
}
