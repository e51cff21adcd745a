import { byLocale } from "@/components/reader/by-reader";
import { type Amount, exactText, toNumber } from "./amount";
import { formatDigits } from "./format-count";

const percents = byLocale((tag) => new Intl.NumberFormat(tag, { style: "percent" }));
const ticks = byLocale((tag) => new Intl.NumberFormat(tag, { style: "percent", signDisplay: "negative" }));

/** A whole number of per cent with its thousands separated: 4120 as "4,120%". */
export function formatWholePercent(percent: number): string {
  return percents().format(percent / 100);
}

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
  return ticks().format(share);
}

/** Whether an exact fraction is 1 or more. A double would round 0.99999999999999999 to 1. */
export function isAtLeastOne(fraction: Amount): boolean {
  const [whole] = exactText(fraction).split(".");
  return Number(whole) >= 1;
}

/** A fraction as a whole percentage with its thousands separated ("4,120%"), rounded, but "100%" only when the fraction is 1 or more. */
export function formatPercent(fraction: Amount): string {
  const percent = Math.round(toNumber(fraction) * 100);
  return formatWholePercent(isAtLeastOne(fraction) ? percent : Math.min(percent, 99));
}
