/** The decimal places of calculations, the most that ledger amounts have. */
const scale = 18;

function parse(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + fraction.slice(0, scale).padEnd(scale, "0"));
  return text.startsWith("-") ? -size : size;
}

function format(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const fraction = digits.slice(-scale).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -scale)}${fraction && `.${fraction}`}`;
}

/** The exact sum of decimals. They have at most 18 decimal places and no exponent. */
export function sumExact(amounts: readonly string[]): string {
  return format(amounts.reduce((sum, amount) => sum + parse(amount), 0n));
}

/** The exact difference of two decimals. */
export function subtractExact(from: string, amount: string): string {
  return format(parse(from) - parse(amount));
}

/** The product of two decimals, cut off after 18 decimal places. */
export function multiplyExact(a: string, b: string): string {
  return format((parse(a) * parse(b)) / 10n ** BigInt(scale));
}

/** Rounds a parsed decimal to decimal places, halves away from zero, as `Intl.NumberFormat` does. */
function round(value: bigint, decimals: number): bigint {
  const unit = 10n ** BigInt(scale - decimals);
  const half = value < 0n ? -(unit / 2n) : unit / 2n;
  return ((value + half) / unit) * unit;
}

/** Whether parts that are rounded one by one sum to their rounded whole. @param decimals decimal places, at most 18 */
export function isRoundedSum(whole: string, parts: readonly string[], decimals: number): boolean {
  const sum = parts.reduce((sum, part) => sum + round(parse(part), decimals), 0n);
  return sum === round(parse(whole), decimals);
}
