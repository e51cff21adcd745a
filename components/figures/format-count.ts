import { byLocale } from "@/components/reader/by-reader";

const withThousands = byLocale((tag) => new Intl.NumberFormat(tag));
const short = byLocale(
  (tag) => new Intl.NumberFormat(tag, { notation: "compact", maximumFractionDigits: 1 }),
);
const upToOneDecimal = byLocale((tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }));
const exact = byLocale((tag) => {
  const whole = new Intl.NumberFormat(tag);
  const point =
    new Intl.NumberFormat(tag).formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? ".";
  return { whole, point };
});

/** A number with its thousands separated, as the reader writes it: 12345 as "12,345" or "12.345". */
export function formatNumber(value: number): string {
  return withThousands().format(value);
}

/** A number that is shortened: "1.2M". */
export function formatShortNumber(value: number): string {
  return short().format(value);
}

/** "12.3 kB", "3,4 MB": in decimal units, as browsers show downloads. Their symbols are the same in every locale. */
export function formatSize(bytes: number): string {
  const { unit, of } = bytes < 1_000_000 ? { unit: "kB", of: 1_000 } : { unit: "MB", of: 1_000_000 };
  return `${upToOneDecimal().format(bytes / of)} ${unit}`;
}

/** A decimal with its thousands separated and all its digits: `1234567.50` as "1,234,567.50". @param text without an exponent */
export function formatDigits(text: string): string {
  const [, sign = "", digits = "0", fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const { whole, point } = exact();
  const grouped = whole.format(BigInt(digits));
  return `${sign && "−"}${grouped}${fraction === undefined ? "" : `${point}${fraction}`}`;
}

/** A noun in the singular for 1 and in the plural for other counts: "row", "rows". */
export function plural(count: number, noun: string): string {
  if (count === 1) return noun;
  return noun === "person" ? "people" : `${noun}s`;
}

/** A number with its noun: "1 row", "12,345 rows". */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${plural(count, noun)}`;
}
