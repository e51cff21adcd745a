import { type Amount, exactText, toNumber } from "@/components/amount";
import { formatNumber } from "@/components/format-count";

/** Whether an exact fraction is 1 or more. A double would round 0.99999999999999999 to 1. */
export function isAtLeastOne(fraction: Amount): boolean {
  const [whole] = exactText(fraction).split(".");
  return Number(whole) >= 1;
}

/** A fraction as a whole percentage with its thousands separated ("4,120 %"), rounded, but "100 %" only when the fraction is 1 or more. */
export function formatPercent(fraction: Amount): string {
  const percent = Math.round(toNumber(fraction) * 100);
  return `${formatNumber(isAtLeastOne(fraction) ? percent : Math.min(percent, 99))} %`;
}
