import { currentReader } from "#reader";
import { byLocale } from "@/components/reader/by-reader";
import { type Amount, convertedText, exactText, toNumber } from "./amount";
import { multiplyExact } from "./exact";
import { formatDate } from "./format-date";
import { withMinus } from "./format-percent";

/** The formats of a currency in a locale. @param places decimal places, by default the currency's */
function formatsOf(tag: string, currency: string, places: number | undefined) {
  const style = { style: "currency", currency } as const;
  const whole = new Intl.NumberFormat(tag, { ...style, minimumFractionDigits: places });
  const decimals = whole.resolvedOptions().maximumFractionDigits ?? 2;
  return {
    whole,
    rounded: new Intl.NumberFormat(tag, { ...style, maximumFractionDigits: 0 }),
    small: new Intl.NumberFormat(tag, { ...style, maximumSignificantDigits: 2 }),
    rough: new Intl.NumberFormat(tag, {
      ...style,
      notation: "compact",
      maximumFractionDigits: 1,
      trailingZeroDisplay: "stripIfInteger",
    } as Intl.NumberFormatOptions),
    /** Amounts below this would be shown as zero. */
    least: 0.5 / 10 ** decimals,
  };
}

const formats = byLocale((tag) => {
  const made = new Map<string, ReturnType<typeof formatsOf>>();
  return (currency: string, places?: number) => {
    const key = `${currency} ${places}`;
    const known = made.get(key);
    if (known) return known;
    const value = formatsOf(tag, currency, places);
    made.set(key, value);
    return value;
  };
});

/**
 * An amount in a currency (ISO 4217) in the reader's locale, with the decimals of that currency, or with two significant digits if
 * those decimals would show zero.
 * @param rounded whether it is rounded to whole units
 * @param places decimal places, at least the currency's, if others than these
 */
export function formatAmount(amount: Amount, currency: string, rounded = false, places?: number): string {
  const { whole, small, least, ...others } = formats()(currency, places);
  const text = exactText(amount);
  const size = Math.abs(Number(text));
  const format = rounded ? others.rounded : size > 0 && size < least ? small : whole;
  // Passed as text, because a double would lose digits.
  return withMinus(format.format(text as `${number}`));
}

/** US dollars: "$1,234.50", "1.234,50 $". For amounts that are shown in USD to every reader, such as a price or a limit. @param places decimal places, by default 2 */
export function formatUsd(usd: Amount, places?: number): string {
  return formatAmount(usd, "USD", false, places);
}

/** US dollars with their sign, for every reader: "+$36.12", "−$5.00"; zero has no sign. @param places decimal places, by default 2 */
export function formatSignedUsd(usd: Amount, places?: number): string {
  const text = formatUsd(usd, places);
  return Number(exactText(usd)) > 0 ? `+${text}` : text;
}

/** US dollars with all their digits: "$1234.5". @param grouped whether to separate thousands: "$1,234.5" */
export function formatExactUsd(usd: Amount, grouped = false): string {
  const text = exactText(usd);
  const [whole = "", fraction] = text.split(".");
  const parts = exactUsd()
    [grouped ? "grouped" : "plain"].formatToParts(whole as unknown as number)
    .map(({ type, value }) => {
      if (type !== "fraction") return type === "decimal" && fraction === undefined ? "" : value;
      return fraction ?? "";
    });
  return withMinus(parts.join(""));
}

const exactUsd = byLocale((tag) => {
  const options = {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  } as const;
  return {
    plain: new Intl.NumberFormat(tag, { ...options, useGrouping: false }),
    grouped: new Intl.NumberFormat(tag, options),
  };
});

/** An amount in the reader's currency as exact text; undefined if the reader sees only USD. */
export function inReaderCurrency(usd: Amount): string | undefined {
  const { display } = currentReader();
  if (!display) return undefined;
  return convertedText(usd) ?? multiplyExact(exactText(usd), display.perUsd);
}

/** A converted amount, marked as such: "≈ €1,090.22". */
export function formatConverted(amount: string, currency: string, rounded = false, sign = ""): string {
  return `≈ ${sign}${formatAmount(amount, currency, rounded)}`;
}

/** Explains how an amount was converted and what was recorded; undefined if the reader sees only USD. */
export function conversionTitle(usd: Amount): string | undefined {
  const { display } = currentReader();
  if (!display) return undefined;
  const rate =
    convertedText(usd) === undefined ? `the rate of ${formatDate(display.rateDate)}` : "each day's rate";
  return `Converted at ${rate}; recorded as ${formatExactUsd(usd)}`;
}

/**
 * An amount in the currency or currencies that the reader sees: "$1,234.50", "≈ €1,090.22" or "$1,234.50 (≈ €1,090.22)".
 * @param rounded whether it is rounded to whole units
 */
export function formatMoney(usd: Amount, rounded = false): string {
  return formatWithSign(usd, rounded, "");
}

function formatWithSign(usd: Amount, rounded: boolean, sign: string): string {
  const { display } = currentReader();
  const converted = inReaderCurrency(usd);
  const inUsd = `${sign}${formatAmount(usd, "USD", rounded)}`;
  if (!display || converted === undefined) return inUsd;
  const text = formatConverted(converted, display.currency, rounded, sign);
  return display.besideUsd ? `${inUsd} (${text})` : text;
}

/** An amount with its sign: "+$36.12", "−$5.00"; zero has no sign. */
export function formatSignedMoney(usd: Amount): string {
  const text = exactText(usd);
  if (Number(text) === 0) return formatMoney(usd);
  return text.startsWith("-") ? formatWithSign(negate(usd), false, "−") : formatWithSign(usd, false, "+");
}

/** The opposite of an amount. */
function negate(usd: Amount): Amount {
  const flip = (text: string) => (text.startsWith("-") ? text.slice(1) : `-${text}`);
  const converted = convertedText(usd);
  return converted === undefined
    ? flip(exactText(usd))
    : { usd: flip(exactText(usd)), converted: flip(converted) };
}

/** The single currency in which amounts are compared, as in a chart: USD if the reader sees both. */
function comparedCurrency(): string {
  const { display } = currentReader();
  return display && !display.besideUsd ? display.currency : "USD";
}

/** An amount as a double in the currency of charts: for drawing, and for shares and growth. */
export function shownNumber(usd: Amount): number {
  return comparedCurrency() === "USD" ? toNumber(usd) : Number(inReaderCurrency(usd));
}

/** An amount of a chart, in the chart's one currency. */
export function formatChartAmount(usd: Amount): string {
  const currency = comparedCurrency();
  return currency === "USD" ? formatUsd(usd) : formatConverted(inReaderCurrency(usd) ?? "0", currency);
}

/** An amount on the axis of a chart, shortened: "$1.2K". @param amount as `shownNumber` gave it */
export function formatTick(amount: number, currency = comparedCurrency()): string {
  if (Math.abs(amount) > 0 && Math.abs(amount) < 10) return formatAmount(amount, currency);
  return withMinus(formats()(currency).rough.format(amount));
}
