import type { z } from "zod";
import type { forecastDetails } from "@/lib/contract/forecast";
import type { DayRange } from "@/lib/contract/month";
import {
  add,
  compare,
  type Decimal,
  divideMoney,
  parseDecimal,
  roundTo,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/ledger/pricing/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays, countDays } from "./period";

/** The days before today whose usage a forecast goes by: five of each day of the week. */
export const comparedDays = 35;

/** The fewest whole days, from the first one with usage on, that a forecast can be made from. */
const leastDays = 3;

/** What a forecast is made from. Days are `YYYY-MM-DD` in UTC, or in the time zone of a budget. */
export type ForecastBasis = {
  /** The period. It must contain today. */
  range: DayRange;
  today: string;
  /** What is recorded in the period, and what is booked on its coming days; USD, of every type. */
  recorded: Decimal;
  /** USD of usage and batches by day, of today and the `comparedDays` before it; a day without any may be missing. */
  usage: ReadonlyMap<string, Decimal>;
};

/** The forecast of a period, USD. */
export type Forecast = {
  /** The total at the end of the period, and the range that it is expected in; all rounded to what they are worth. */
  total: Decimal;
  low: Decimal;
  high: Decimal;
  /** What is recorded or booked already. */
  recorded: Decimal;
  /** What the rest of the period adds, rounded as the total is. */
  added: Decimal;
  /** Days of the period that are left, with today. */
  daysLeft: number;
  /** Whole days before today that it goes by, at most `comparedDays`. */
  daysCompared: number;
  /** The day on which an amount is used up, `YYYY-MM-DD`; null if it is not, or is already. */
  runsOutOn(amount: Decimal): string | null;
};

/** The lower quartile, the median and the upper quartile of what usage cost on some days. */
type Pace = { low: Decimal; median: Decimal; high: Decimal };

/**
 * Forecasts what a period costs in the end: what is recorded and booked, and for each day that is left the median usage of
 * comparable days, which are the same weekdays of the last five weeks. What usage cost today counts towards today's median.
 * Nothing but usage is extrapolated: subscriptions count as they are booked, expenses and allocations as they are recorded.
 * The time of day has no influence. The range is made of the quartiles in place of the medians.
 * @returns null where the period does not contain today, fewer than three days of usage are known, or the rounded total is
 * not above zero
 */
export function forecastSpend({ range, today, recorded, usage }: ForecastBasis): Forecast | null {
  if (range.until === "infinity" || today < range.from || today >= range.until) return null;
  const compared = listCompared(usage, today);
  if (compared.length < leastDays) return null;
  const paces = paceByWeekday(compared, usage);
  const soFar = usage.get(today) ?? zero;
  const daysLeft = countDays({ from: today, until: range.until });
  const days = Array.from({ length: daysLeft }, (_, index) => {
    const day = addDays(today, index);
    const pace = paces[weekdayOf(day)] ?? none;
    const rest = (amount: Decimal) => atLeast(index === 0 ? subtract(amount, soFar) : amount, zero);
    return { day, low: rest(pace.low), median: rest(pace.median), high: rest(pace.high) };
  });
  const added = (of: keyof Pace) => sum(days.map((each) => each[of]));
  const [low, median, high] = [added("low"), added("median"), added("high")];
  const step = stepOf(median, subtract(high, low));
  const total = atLeast(roundToStep(add(recorded, median), step, "nearest"), recorded);
  if (compare(total, zero) <= 0) return null;
  return {
    total,
    low: atLeast(roundToStep(add(recorded, low), step, "down"), recorded),
    high: roundToStep(add(recorded, high), step, "up"),
    recorded,
    added: subtract(total, recorded),
    daysLeft,
    daysCompared: compared.length,
    runsOutOn(amount) {
      if (compare(recorded, amount) >= 0) return null;
      let spent = recorded;
      for (const each of days) {
        spent = add(spent, each.median);
        if (compare(spent, amount) >= 0) return each.day;
      }
      return null;
    },
  };
}

/** The whole days that a forecast goes by: those before today, from the first one with usage on. */
function listCompared(usage: ReadonlyMap<string, Decimal>, today: string): string[] {
  const all = Array.from({ length: comparedDays }, (_, index) => addDays(today, index - comparedDays));
  const first = all.findIndex((day) => compare(usage.get(day) ?? zero, zero) !== 0);
  return first < 0 ? [] : all.slice(first);
}

const none: Pace = { low: zero, median: zero, high: zero };

/** 0 is Sunday. */
const weekdayOf = (day: string) => new Date(Date.parse(day)).getUTCDay();
const isWeekend = (weekday: number) => weekday === 0 || weekday === 6;

/**
 * The pace of each weekday, Sunday first: that of the same weekdays where at least three are known, otherwise that of all
 * working days or of all days of the weekend, otherwise that of all days.
 */
function paceByWeekday(days: string[], usage: ReadonlyMap<string, Decimal>): Pace[] {
  return Array.from({ length: 7 }, (_, weekday) => {
    const alike = [
      days.filter((day) => weekdayOf(day) === weekday),
      days.filter((day) => isWeekend(weekdayOf(day)) === isWeekend(weekday)),
      days,
    ].find((each) => each.length >= leastDays);
    return paceOf((alike ?? days).map((day) => usage.get(day) ?? zero));
  });
}

function paceOf(amounts: Decimal[]): Pace {
  const sorted = [...amounts].sort(compare);
  const at = (index: number) => sorted[index] ?? zero;
  const last = sorted.length - 1;
  const middle = add(at(Math.floor(last / 2)), at(Math.ceil(last / 2)));
  return {
    low: at(Math.floor(last / 4)),
    median: divideMoney(middle, parseDecimal("2")),
    high: at(Math.ceil((last * 3) / 4)),
  };
}

/**
 * What a forecast is rounded to, a power of ten: a tenth of its range, or a hundredth of what is added, whichever is more.
 * Undefined where nothing is added: what is recorded is exact.
 */
function stepOf(added: Decimal, spread: Decimal): number | undefined {
  const uncertain = Math.max(Number(toText(spread)) / 10, Number(toText(added)) / 100);
  return uncertain > 0 ? Math.floor(Math.log10(uncertain)) : undefined;
}

function roundToStep(amount: Decimal, power: number | undefined, mode: "down" | "nearest" | "up"): Decimal {
  return power === undefined ? amount : roundTo(amount, -power, mode);
}

const atLeast = (amount: Decimal, least: Decimal) => (compare(amount, least) < 0 ? least : amount);

/** The days whose usage a forecast needs: today, and those that it is compared with. @param today `YYYY-MM-DD` */
export const usageDays = (today: string): DayRange => ({
  from: addDays(today, -comparedDays),
  until: addDays(today, 1),
});

/** The usage by day of some rows; amounts are USD as exact text. */
export const toUsage = (rows: { day: string; amount: string }[]): ReadonlyMap<string, Decimal> =>
  new Map(rows.map(({ day, amount }) => [day, parseDecimal(amount)]));

/** A forecast as responses explain it. */
export function toForecastDetails(forecast: Forecast | null): z.output<typeof forecastDetails> {
  return (
    forecast && {
      low_usd: toExact(forecast.low),
      high_usd: toExact(forecast.high),
      recorded_usd: toExact(forecast.recorded),
      added_usd: toExact(forecast.added),
      days_left: forecast.daysLeft,
      days_compared: forecast.daysCompared,
    }
  );
}
