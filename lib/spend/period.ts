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

/** A requested period with what it is compared with: `compare_from` and `compare_to` are the days of a `range`. */
export type ComparedQuery = PeriodQuery & {
  compare?: Comparison | undefined;
  compare_from?: string | undefined;
  compare_to?: string | undefined;
};

/** A day of which only what was before a time of its clock counts; see `Clock.now`. */
export type CutDay = { day: string; at: number };

/**
 * What a period is compared with: the same stretch of another period, one definition for pages, the API and reports.
 */
export type Compared = {
  /** All days of the other period. */
  whole: DayRange;
  /** The days that correspond to those of the period, one by one: a chart draws them behind its own. */
  aligned: DayRange;
  /** Whether each day corresponds to the same weekday, weeks earlier, and not to the day at its place in the other period. */
  isByWeekday: boolean;
  /** What corresponds to the part of the period that has passed: whole days, and a part of one more. Empty where it has not begun. */
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

/** The number of months of calendar periods; the others are counted in days. */
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

/** The number of whole calendar months that a period is counted in; undefined for one that is counted in days. */
function monthsIn(period: Period, { from, until }: DayRange): number | undefined {
  if (period !== "range") return monthsOf[period];
  return monthsBetweenStarts({ from, until });
}

/**
 * The preceding period of the same length: as many months where it consists of whole calendar months, the year before up to the same
 * date for a year up to today, otherwise as many days; undefined for `all`.
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
 * What a period is compared with; undefined where it is compared with nothing.
 *
 * A period that is over is compared with all of the other one. Of one that goes on, the part that has passed is compared with
 * as much of the other one, to the same time of the day: a month from the same weekday on, four weeks before (52 for the
 * year before), a year up to the same date, any other from its first day on.
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

/** By how many days the days of a month lie after those that they are compared with: as many weeks as bring them into the other month. */
const weekdayShifts: Partial<Record<Comparison, number>> = { previous: 28, last_year: 364 };

/** The day at the place of another in the days compared with; the day after that month where it is shorter (`isThere` is false). */
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

/** The days that a period is compared with, all of them; undefined where it is compared with nothing. */
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

/** Whether days are a week from its Monday on. */
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

/**
 * What a period is compared with as responses show it; null where nothing of it corresponds.
 * @param isEstimate whether the cut day has too many lines to read
 * @param timeZone whose days they are
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
