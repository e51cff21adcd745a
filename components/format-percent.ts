import { type Amount, exactText } from "@/components/amount";

/** Whether a fraction has reached one, to its last digit: 0.99999999999999999 has not, whatever a double makes of it. */
export function isAll(fraction: Amount): boolean {
  const [whole] = exactText(fraction).split(".");
  return Number(whole) >= 1;
}

/** A fraction as a whole percentage, rounded down where up would reach a hundred that is not there yet. */
export function formatPercent(fraction: Amount): string {
  const percent = Math.round(Number(exactText(fraction)) * 100);
  return `${isAll(fraction) ? percent : Math.min(percent, 99)} %`;
}
