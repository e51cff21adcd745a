import { dayOf } from "@/lib/contract/instant";
import type { Period } from "@/lib/contract/ledger-query";
import type { DayRange } from "@/lib/contract/month";

const dayMs = 86_400_000;

/** All days, in Postgres' notation. */
export const everything: DayRange = { from: "-infinity", until: "infinity" };

/** A requested period. `from` and `to` are the first and the last day of a `range`. */
export type PeriodQuery = { period: Period; from?: string | undefined; to?: string | undefined };

/** A point in a day: `fraction` of the day has passed (text, 0 to 1). */
export type DayPoint = { day: string; fraction: string };

/** The day that is `days` days later (or earlier). */
export function addDays(day: string, days: number): string {
  return dayOf(Date.parse(day) + days * dayMs);
}

/** How many days a range has. */
export function countDays({ from, until }: DayRange): number {
  return Math.round((Date.parse(until) - Date.parse(from)) / dayMs);
}

/** The first day of the month that is `months` months later (or earlier) than that of a day. */
export function addMonthStart(day: string, months: number): string {
  const [year = 0, month = 1] = day.split("-").map(Number);
  return dayOf(Date.UTC(year, month - 1 + months, 1));
}

/** The number of months of calendar periods; the others are counted in days. */
const monthsOf: Partial<Record<Period, number>> = { month: 1, quarter: 3, year: 12 };

/** The UTC days of a period. @param now milliseconds since 1970 */
export function rangeOf({ period, from, to }: PeriodQuery, now: number): DayRange {
  const today = dayOf(now);
  if (period === "all") return everything;
  if (period === "range" && from !== undefined && to !== undefined) return { from, until: addDays(to, 1) };
  if (period === "week") {
    const monday = addDays(today, -((new Date(now).getUTCDay() + 6) % 7));
    return { from: monday, until: addDays(monday, 7) };
  }
  const months = monthsOf[period];
  if (months === undefined) return { from: today, until: addDays(today, 1) };
  const month = new Date(now).getUTCMonth();
  const first = addMonthStart(today, -(month % months));
  return { from: first, until: addMonthStart(first, months) };
}

/** The preceding period of the same length; undefined for `all`. @param range the result of `rangeOf` for the period */
export function rangeBefore(period: Period, range: DayRange): DayRange | undefined {
  if (period === "all") return undefined;
  const months = monthsOf[period];
  const from =
    months === undefined ? addDays(range.from, -countDays(range)) : addMonthStart(range.from, -months);
  return { from, until: range.from };
}

/**
 * The point of the preceding period that corresponds to now: the same number of days (by the calendar for months) and the
 * same time of day. If that month is shorter, the end of the month; if the period is over, the end of the preceding one.
 */
export function samePointBefore(period: Period, range: DayRange, before: DayRange, now: number): DayPoint {
  const today = dayOf(now);
  const end = { day: addDays(before.until, -1), fraction: "1" };
  if (today >= range.until) return end;
  if (today < range.from) return { day: before.from, fraction: "0" };
  const fraction = ((now % dayMs) / dayMs).toFixed(6);
  if (monthsOf[period] === undefined) {
    const day = addDays(before.from, countDays({ from: range.from, until: today }));
    return day < before.until ? { day, fraction } : end;
  }
  const months = monthsBetween(range.from, today);
  const first = addMonthStart(before.from, months);
  const day = addDays(first, Number(today.slice(8)) - 1);
  const monthEnd = addDays(addMonthStart(first, 1), -1);
  return day <= monthEnd ? { day, fraction } : { day: monthEnd, fraction: "1" };
}

function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0] = from.split("-").map(Number);
  const [toYear = 0, toMonth = 0] = to.split("-").map(Number);
  return (toYear - fromYear) * 12 + toMonth - fromMonth;
}

/** A range as responses show it: its first and last day, both null for everything. */
export function toAnsweredRange({ from, until }: DayRange): { from: string | null; to: string | null } {
  return until === everything.until ? { from: null, to: null } : { from, to: addDays(until, -1) };
}
