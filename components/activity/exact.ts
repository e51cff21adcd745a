/** Decimals that ledger amounts have at most, and those of what is multiplied and subtracted here. */
const scale = 18;

function read(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + fraction.slice(0, scale).padEnd(scale, "0"));
  return text.startsWith("-") ? -size : size;
}

function write(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const fraction = digits.slice(-scale).replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -scale)}${fraction && `.${fraction}`}`;
}

/** Sums exact decimals of at most 18 places, written without an exponent, in the browser: not a digit is lost. */
export function sumExact(amounts: readonly string[]): string {
  return write(amounts.reduce((sum, amount) => sum + read(amount), 0n));
}

/** What is left of one exact decimal without another. */
export function subtractExact(from: string, amount: string): string {
  return write(read(from) - read(amount));
}

/** The product of two exact decimals, cut after 18 places. */
export function multiplyExact(a: string, b: string): string {
  return write((read(a) * read(b)) / 10n ** BigInt(scale));
}

/** Writes an exact decimal with its thousands apart: `1234567.5` as `1,234,567.5`. */
export function groupDigits(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
