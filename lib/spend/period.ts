import { type Comparison, comparisonOf, type Period, periodOf } from "@/lib/contract/spend/ledger-query";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";

const dayMs = 86_400_000;

/** All days, in Postgres' notation. */
export const everything: DayRange = { from: "-infinity", until: "infinity" };

/** A requested period. `from` and `to` are the first and the last day of a `range`. */
export type PeriodQuery = { period?: Period | undefined; from?: string | undefined; to?: string | undefined };

/** A requested period with what it is compared with: `compare_from` and `compare_to` are the days of a `range`. */
export type ComparedQuery = PeriodQuery & {
  compare?: Comparison | undefined;
  compare_from?: string | undefined;
  compare_to?: string | undefined;
};

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
const monthsOf: Partial<Record<Period, number>> = { month: 1, last_month: 1, quarter: 3, year: 12 };

/** The number of days of periods that end today. */
const latestDays: Partial<Record<Period, number>> = {
  day: 1,
  last_7_days: 7,
  last_30_days: 30,
  last_90_days: 90,
};

/** The UTC days of a requested period. @param now milliseconds since 1970 */
export function rangeOf(query: PeriodQuery, now: number): DayRange {
  const period = periodOf(query);
  const { from, to } = query;
  const today = dayOf(now);
  if (period === "all") return everything;
  if (period === "range" && from !== undefined && to !== undefined) return { from, until: addDays(to, 1) };
  if (period === "week") {
    const monday = addDays(today, -((new Date(now).getUTCDay() + 6) % 7));
    return { from: monday, until: addDays(monday, 7) };
  }
  if (period === "last_month") return { from: addMonthStart(today, -1), until: addMonthStart(today, 0) };
  const months = monthsOf[period];
  if (months === undefined) {
    return { from: addDays(today, 1 - (latestDays[period] ?? 1)), until: addDays(today, 1) };
  }
  const month = new Date(now).getUTCMonth();
  const first = addMonthStart(today, -(month % months));
  return { from: first, until: addMonthStart(first, months) };
}

/** The number of whole calendar months that a period is counted in; undefined for one that is counted in days. */
function monthsIn(period: Period, { from, until }: DayRange): number | undefined {
  if (period !== "range") return monthsOf[period];
  const isWhole = from.endsWith("-01") && until.endsWith("-01");
  return isWhole ? monthsBetween(from, until) : undefined;
}

/**
 * The preceding period of the same length: as many months where it consists of whole calendar months, otherwise as many
 * days; undefined for `all`.
 * @param range the result of `rangeOf` for the period
 */
export function rangeBefore(period: Period, range: DayRange): DayRange | undefined {
  if (period === "all") return undefined;
  const months = monthsIn(period, range);
  const from =
    months === undefined ? addDays(range.from, -countDays(range)) : addMonthStart(range.from, -months);
  return { from, until: range.from };
}

/** The following period of the same length; undefined for `all`. @param range the result of `rangeOf` for the period */
export function rangeAfter(period: Period, range: DayRange): DayRange | undefined {
  if (period === "all") return undefined;
  const months = monthsIn(period, range);
  const until =
    months === undefined ? addDays(range.until, countDays(range)) : addMonthStart(range.until, months);
  return { from: range.until, until };
}

/**
 * The days that a period is compared with; undefined where it is compared with nothing.
 * @param range the result of `rangeOf` for the query
 */
export function comparedRange(query: ComparedQuery, range: DayRange): DayRange | undefined {
  const { compare_from: from, compare_to: to } = query;
  switch (comparisonOf(query)) {
    case "none":
      return undefined;
    case "previous":
      return rangeBefore(periodOf(query), range);
    case "last_year":
      return { from: yearBefore(range.from), until: addDays(yearBefore(addDays(range.until, -1)), 1) };
    case "range":
      return from === undefined || to === undefined ? undefined : { from, until: addDays(to, 1) };
  }
}

/** The same day a year earlier; February 28 for February 29. */
function yearBefore(day: string): string {
  const month = addMonthStart(day, -12);
  const last = addDays(addMonthStart(month, 1), -1);
  const same = `${month.slice(0, 8)}${day.slice(8)}`;
  return same <= last ? same : last;
}

/**
 * The point of the days compared with that corresponds to now: the same number of days (by the calendar for months) and the
 * same time of day. If that month is shorter, the end of the month; if the period is over, the end of those days.
 */
export function samePointBefore(period: Period, range: DayRange, before: DayRange, now: number): DayPoint {
  const today = dayOf(now);
  const end = { day: addDays(before.until, -1), fraction: "1" };
  if (today >= range.until) return end;
  if (today < range.from) return { day: before.from, fraction: "0" };
  const fraction = ((now % dayMs) / dayMs).toFixed(6);
  if (monthsIn(period, range) === undefined || !before.from.endsWith("-01")) {
    const day = addDays(before.from, countDays({ from: range.from, until: today }));
    return day < before.until ? { day, fraction } : end;
  }
  const months = monthsBetween(range.from, today);
  const first = addMonthStart(before.from, months);
  const day = addDays(first, Number(today.slice(8)) - 1);
  const monthEnd = addDays(addMonthStart(first, 1), -1);
  const point = day <= monthEnd ? { day, fraction } : { day: monthEnd, fraction: "1" };
  return point.day < before.until ? point : end;
}

function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0] = from.split("-").map(Number);
  const [toYear = 0, toMonth = 0] = to.split("-").map(Number);
  return (toYear - fromYear) * 12 + toMonth - fromMonth;
}

/**
 * The days of a range up to today. Later days have only what is booked ahead, such as the months of a yearly subscription,
 * which is not spent yet. Empty where the range begins after today.
 */
export function spentWithin({ from, until }: DayRange, now: number): DayRange {
  const tomorrow = addDays(dayOf(now), 1);
  return { from, until: until === everything.until || until > tomorrow ? tomorrow : until };
}

/** A range as responses show it: its first and last day, both null for everything. */
export function toAnsweredRange({ from, until }: DayRange): { from: string | null; to: string | null } {
  return until === everything.until ? { from: null, to: null } : { from, to: addDays(until, -1) };
}
