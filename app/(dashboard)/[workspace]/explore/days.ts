import { addDays } from "@/components/figures/utc-day";
import type { PageRange } from "@/components/filters/range";
import { maxSpendDays } from "@/lib/contract/spend/spend-query";
import { samePointBefore } from "@/lib/spend/period";

/** The days of a range up to today, unless it begins later; of everything, all up to today, without a first one. */
export function daysOf({ from, to, today }: PageRange): { from: string | undefined; to: string } {
  const last = to === null || (to > today && (from ?? "") <= today) ? today : to;
  return { from: from ?? undefined, to: last };
}

/** The same; of everything, as many days as a query may be about. */
export function longestDaysOf(range: PageRange): { from: string; to: string } {
  const { from, to } = daysOf(range);
  return { from: from ?? addDays(to, 1 - maxSpendDays), to };
}

/** The days that the days of a range are compared with: of one that goes on after today, as many; null for none. */
export function comparedDaysOf({
  period,
  from,
  to,
  previous,
  today,
}: PageRange): { from: string; to: string } | null {
  const goesOn = from !== null && to !== null && from <= today && today < to;
  if (!goesOn || previous === null) return previous;
  const range = { from, until: addDays(to, 1) };
  const before = { from: previous.from, until: addDays(previous.to, 1) };
  return { from: previous.from, to: samePointBefore(period, range, before, Date.parse(today)).day };
}
