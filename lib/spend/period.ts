import { type Comparison, comparisonOf, type Period, periodOf } from "@/lib/contract/spend/ledger-query";
import type { ComparedStretch } from "@/lib/contract/spend/spend-comparison";
import { instantOf } from "@/lib/contract/values/clock";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";

const dayMs = 86_400_000;

/** All days, in Postgres' notation. */
export const everything: DayRange = { from: "-infinity", until: "infinity" };

/** A requested period. `from` and `to` are the first and the last day of a `range`. */
export type PeriodQuery = { period?: Period | undefined; from?: string | undefined; to?: string | undefined };

/** A requested period and what to compare it with. `compare_from` and `compare_to`: the first and the last day of a `range`. */
export type ComparedQuery = PeriodQuery & {
  compare?: Comparison | undefined;
  compare_from?: string | undefined;
  compare_to?: string | undefined;
};

/** A day that counts only up to a time of day. `at`: that time by the workspace's clock; see `Clock.now`. */
export type CutDay = { day: string; at: number };

/**
 * What a period is compared with: the same stretch of another period. Pages, the API and reports share this definition.
 */
export type Compared = {
  /** All days of the other period. */
  whole: DayRange;
  /** The days that correspond one by one to those of the period. A chart draws them behind the period's. */
  aligned: DayRange;
  /** Whether each day corresponds to the same weekday some weeks earlier, instead of to the day with the same number. */
  isByWeekday: boolean;
  /** The days that correspond to the elapsed part of the period, and a part of one more day. Empty if it has not begun. */
  stretch: { days: DayRange; cut: CutDay | undefined };
};

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

/** The number of months of calendar periods. Other periods are counted in days. */
const monthsOf: Partial<Record<Period, number>> = {
  month: 1,
  last_month: 1,
  quarter: 3,
  last_quarter: 3,
  year: 12,
};

/** The number of days of periods that end today. */
const latestDays: Partial<Record<Period, number>> = {
  day: 1,
  last_7_days: 7,
  last_30_days: 30,
  last_90_days: 90,
};

/** The days of a requested period. @param now what the clock of their time zone shows; see `Clock.now` */
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
  if (period === "year_to_date") return { from: `${today.slice(0, 4)}-01-01`, until: addDays(today, 1) };
  const months = monthsOf[period];
  if (months === undefined) {
    return { from: addDays(today, 1 - (latestDays[period] ?? 1)), until: addDays(today, 1) };
  }
  const month = new Date(now).getUTCMonth();
  const first = addMonthStart(today, -(month % months));
  if (period === "last_quarter") return { from: addMonthStart(first, -months), until: first };
  return { from: first, until: addMonthStart(first, months) };
}

/** The length of a period in whole calendar months; undefined for a period that is counted in days. */
function monthsIn(period: Period, { from, until }: DayRange): number | undefined {
  if (period !== "range") return monthsOf[period];
  return monthsBetweenStarts({ from, until });
}

/**
 * The preceding period of the same length: as many months for a period of whole calendar months, the previous year up to the same
 * date for `year_to_date`, otherwise as many days; undefined for `all`.
 * @param range the result of `rangeOf` for the period
 */
export function rangeBefore(period: Period, range: DayRange): DayRange | undefined {
  if (period === "all") return undefined;
  if (period === "year_to_date") return yearBeforeOf(range);
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
 * Finds the days that a period is compared with; undefined if it is compared with nothing.
 *
 * A period that is over is compared with the whole other period. For a period that is not, the elapsed part is compared with as
 * much of the other period, up to the same time of day. A month is compared with the days four weeks earlier (52 weeks for the
 * previous year), so that weekdays match; a year up to the same date; any other period from its first day.
 * @param now what the clock shows; see `Clock.now`
 */
export function comparedWith(query: ComparedQuery, now: number): Compared | undefined {
  const range = rangeOf(query, now);
  const whole = comparedRange(query, range);
  if (!whole) return undefined;
  const today = dayOf(now);
  const placed = { whole, aligned: whole, isByWeekday: false };
  if (today < range.from)
    return { ...placed, stretch: { days: { from: whole.from, until: whole.from }, cut: undefined } };
  if (today >= range.until) return { ...placed, stretch: { days: spentWithin(whole, now), cut: undefined } };
  const shift = weekdayShifts[comparisonOf(query)];
  const isYearToDate = periodOf(query) === "year_to_date";
  const isByWeekday = shift !== undefined && monthsBetweenStarts(range) === 1 && !isYearToDate;
  const aligned = isByWeekday
    ? { from: addDays(range.from, -shift), until: addDays(range.until, -shift) }
    : whole;
  const { day, isThere } = placeOf(today, range, aligned, isYearToDate);
  const isWithin = day < aligned.until;
  const days = { from: aligned.from, until: isWithin ? day : aligned.until };
  const isCut = isThere && isWithin && day <= today;
  return {
    whole,
    aligned,
    isByWeekday,
    stretch: {
      days: spentWithin(days, now),
      cut: isCut ? { day, at: Date.parse(day) + (now % dayMs) } : undefined,
    },
  };
}

/** The days between a day of a month and the day it is compared with: whole weeks that lead into the other month or year. */
const weekdayShifts: Partial<Record<Comparison, number>> = { previous: 28, last_year: 364 };

/** The day compared with that corresponds to today. If its month is too short, the first of the next month, and `isThere` is false. */
function placeOf(
  today: string,
  range: DayRange,
  aligned: DayRange,
  isYearToDate: boolean,
): { day: string; isThere: boolean } {
  const isYear = isYearToDate || (monthsBetweenStarts(range) ?? 0) >= 12;
  const isByDate = isYear && aligned.from.endsWith("-01");
  if (!isByDate)
    return { day: addDays(aligned.from, countDays({ from: range.from, until: today })), isThere: true };
  const month = addMonthStart(aligned.from, monthsBetween(range.from, today));
  const day = addDays(month, Number(today.slice(8)) - 1);
  const next = addMonthStart(month, 1);
  return day < next ? { day, isThere: true } : { day: next, isThere: false };
}

/** All days of the period that a period is compared with; undefined if it is compared with nothing. */
function comparedRange(query: ComparedQuery, range: DayRange): DayRange | undefined {
  const { compare_from: from, compare_to: to } = query;
  switch (comparisonOf(query)) {
    case "none":
      return undefined;
    case "previous":
      return rangeBefore(periodOf(query), range);
    case "last_year":
      return isWeek(range)
        ? { from: addDays(range.from, -364), until: addDays(range.until, -364) }
        : yearBeforeOf(range);
    case "range":
      return from === undefined || to === undefined ? undefined : { from, until: addDays(to, 1) };
  }
}

/** Whether a range is a week that begins on a Monday. */
const isWeek = (range: DayRange): boolean => countDays(range) === 7 && new Date(range.from).getUTCDay() === 1;

/** The days from the same first to the same last day a year earlier. */
const yearBeforeOf = ({ from, until }: DayRange): DayRange => ({
  from: yearBefore(from),
  until: addDays(yearBefore(addDays(until, -1)), 1),
});

/** The same day a year earlier; February 28 for February 29. */
function yearBefore(day: string): string {
  const month = addMonthStart(day, -12);
  const last = addDays(addMonthStart(month, 1), -1);
  const same = `${month.slice(0, 8)}${day.slice(8)}`;
  return same <= last ? same : last;
}

/** The number of months of a range of whole calendar months; undefined for any other. */
const monthsBetweenStarts = ({ from, until }: DayRange): number | undefined =>
  from.endsWith("-01") && until.endsWith("-01") ? monthsBetween(from, until) : undefined;

function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0] = from.split("-").map(Number);
  const [toYear = 0, toMonth = 0] = to.split("-").map(Number);
  return (toYear - fromYear) * 12 + toMonth - fromMonth;
}

/**
 * The days of a range up to today. Later days have only spend booked ahead, such as the months of a yearly subscription.
 * Empty if the range begins after today.
 */
export function spentWithin({ from, until }: DayRange, now: number): DayRange {
  const tomorrow = addDays(dayOf(now), 1);
  return { from, until: until === everything.until || until > tomorrow ? tomorrow : until };
}

/** A range in the form of the response: its first and last day, both null for all time. */
export function toAnsweredRange({ from, until }: DayRange): { from: string | null; to: string | null } {
  return until === everything.until ? { from: null, to: null } : { from, to: addDays(until, -1) };
}

/**
 * The stretch that a period is compared with, in the form of the response; null if no day corresponds.
 * @param isEstimate whether the cut day has too many lines to read, so that its part is estimated
 * @param timeZone the time zone of the days
 */
export function toAnsweredStretch(
  { stretch: { days, cut }, isByWeekday }: Compared,
  isEstimate: boolean,
  timeZone: string,
): ComparedStretch | null {
  const to = cut?.day ?? addDays(days.until, -1);
  if (to < days.from) return null;
  return {
    from: days.from,
    to,
    until: cut ? toInstant(instantOf(timeZone, cut.at)) : null,
    aligned_by: isByWeekday ? "weekday" : "day",
    is_estimate: isEstimate,
  };
}
