/**
 * A decimal as an integer multiple of 1e-18. The model computes with its own arithmetic, so that its agreement with the
 * service is independent evidence.
 */
export type Exact = bigint;

const decimals = 18;
const one = 10n ** BigInt(decimals);

/** Parses a JSON number's text. @throws Error where it has more than eighteen decimals */
export function exact(text: string): Exact {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (sign === undefined) throw new Error(`${text} is not a decimal number.`);
  const shift = decimals + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const value = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  if (shift < 0 && value * 10n ** BigInt(-shift) !== digits)
    throw new Error(`${text} has too many decimals.`);
  return sign === "-" ? -value : value;
}

/** Parses a JSON number's text as an integer multiple of 1e-78, which is equal for two spellings of one number. */
export function fine(text: string): bigint {
  const [mantissa = "", exponent = "0"] = text.split("e");
  return exact(`${mantissa}e${Number(exponent) + 60}`);
}

/** Parses a JSON number's text, rounded once to 18 decimals. */
export const rounded = (text: string): Exact => divideHalfEven(fine(text), 10n ** 60n);

/** The quotient of two integers, rounded half to even. */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n) return -divideHalfEven(-numerator, denominator);
  const quotient = numerator / denominator;
  const twice = (numerator - quotient * denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

/** a × b, rounded once to 18 decimals. */
export const times = (a: Exact, b: Exact): Exact => divideHalfEven(a * b, one);

/** a × b + c × d, rounded once. */
export const timesAndTimes = (a: Exact, b: Exact, c: Exact, d: Exact): Exact =>
  divideHalfEven(a * b + c * d, one);

/** a ÷ b, rounded once. */
export const dividedBy = (a: Exact, b: Exact): Exact => divideHalfEven(a * one, b);

/** A percentage of a, rounded once. */
export const percentOf = (a: Exact, percent: Exact): Exact => divideHalfEven(a * percent, one * 100n);

export const total = (values: Iterable<Exact>): Exact => {
  let sum = 0n;
  for (const value of values) sum += value;
  return sum;
};

/** As text, for messages of failed assertions and for JSON. */
export function show(value: Exact): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -decimals)}${fraction && `.${fraction}`}`;
}
