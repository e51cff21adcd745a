import { byLocale } from "@/components/reader/by-reader";
import { type Amount, exactText, toNumber } from "./amount";
import { formatDigits, formatNumber } from "./format-count";

const percents = byLocale((tag) => new Intl.NumberFormat(tag, { style: "percent" }));
const ticks = byLocale((tag) => new Intl.NumberFormat(tag, { style: "percent", signDisplay: "negative" }));

/** A whole number of per cent with its thousands separated: 4120 as "4,120%". */
export function formatWholePercent(percent: number): string {
  return withMinus(percents().format(percent / 100));
}

/** Replaces the hyphen of a formatted negative number with a minus sign. */
export const withMinus = (text: string) => text.replace("-", "−");

/** A percentage with all its digits: "12.5%", "12,5 %". @param percent not below zero */
export function formatExactPercent(percent: Amount): string {
  const digits = formatDigits(exactText(percent));
  return percents()
    .formatToParts(0)
    .map(({ type, value }) => (type === "integer" ? digits : value))
    .join("");
}

/** A share on the axis of a chart: "50%", "50 %". @param share a fraction, which may be below zero */
export function formatShareTick(share: number): string {
  return withMinus(ticks().format(share));
}

/** Whether an exact fraction is 1 or more. A double would round 0.99999999999999999 to 1. */
export function isAtLeastOne(fraction: Amount): boolean {
  const [whole] = exactText(fraction).split(".");
  return Number(whole) >= 1;
}

/** Whether a fraction is written as a factor ("76×") rather than as a percentage: from ten times on. */
export const isManyTimes = (fraction: number) => Math.abs(fraction) >= 9.995;

/** A factor, rounded: "76×". */
export const formatTimes = (factor: number) => withMinus(`${formatNumber(Math.round(factor))}×`);

/**
 * A fraction as a rounded whole percentage. "100%" is shown only if the fraction is 1 or more, "< 1%" if it would round to zero, and a
 * factor such as "76×" from ten times on.
 */
export function formatPercent(fraction: Amount): string {
  const value = toNumber(fraction);
  if (isManyTimes(value)) return formatTimes(value);
  if (value !== 0 && Math.abs(value) < 0.005)
    return value > 0 ? `< ${formatWholePercent(1)}` : `> ${formatWholePercent(-1)}`;
  const percent = Math.round(value * 100);
  return formatWholePercent(isAtLeastOne(fraction) ? percent : Math.min(percent, 99));
}
