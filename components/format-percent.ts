import { type Amount, exactText, toNumber } from "@/components/amount";
import { formatNumber } from "@/components/format-count";
import { byLocale, isEnglish, readerLocale } from "@/components/reader/by-reader";

const percents = byLocale((tag) => new Intl.NumberFormat(tag, { style: "percent" }));

/** A whole number of per cent with its thousands separated: 4120 as "4,120 %". */
export function formatWholePercent(percent: number): string {
  return isEnglish(readerLocale()) ? `${formatNumber(percent)} %` : percents().format(percent / 100);
}

/** Whether an exact fraction is 1 or more. A double would round 0.99999999999999999 to 1. */
export function isAtLeastOne(fraction: Amount): boolean {
  const [whole] = exactText(fraction).split(".");
  return Number(whole) >= 1;
}

/** A fraction as a whole percentage with its thousands separated ("4,120 %"), rounded, but "100 %" only when the fraction is 1 or more. */
export function formatPercent(fraction: Amount): string {
  const percent = Math.round(toNumber(fraction) * 100);
  return formatWholePercent(isAtLeastOne(fraction) ? percent : Math.min(percent, 99));
}
