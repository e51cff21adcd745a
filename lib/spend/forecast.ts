import type { z } from "zod";
import type { forecastDetails } from "@/lib/contract/spend/forecast";
import type { DayRange } from "@/lib/contract/values/month";
import {
  add,
  compare,
  type Decimal,
  isZero,
  moneyScale,
  parseDecimal,
  roundMoney,
  roundTo,
  shiftDecimal,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays, countDays } from "./period";

/** The days before today whose usage a forecast is based on: five of each weekday. */
export const comparedDays = 35;

/** The fewest whole days, from the first one with usage, that a forecast needs. */
const leastDays = 3;

/** What a forecast is made from. Days are `YYYY-MM-DD` in UTC, or in the time zone of a budget. */
export type ForecastBasis = {
  /** The period. It must contain today. */
  range: DayRange;
  today: string;
  /** What is recorded in the period or booked on its future days; USD, of every type. */
  recorded: Decimal;
  /** USD of usage and batches by day, of today and the `comparedDays` before it; a day without any may be missing. */
  usage: ReadonlyMap<string, Decimal>;
  /** USD of recurring charges of the period that are not recorded yet, by day. */
  coming: { day: string; amount: Decimal }[];
};

/** The forecast of a period, USD. */
export type Forecast = {
  /** The total at the end of the period and its expected range (`low`, `high`), rounded to what their accuracy justifies. */
  total: Decimal;
  low: Decimal;
  high: Decimal;
  /** What is recorded or booked already. */
  recorded: Decimal;
  /** The recurring charges that are going to be booked in the rest of the period. */
  coming: Decimal;
  /** What usage adds in the rest of the period, rounded as the total is. */
  added: Decimal;
  /** Days of the period that are left, with today. */
  daysLeft: number;
  /** Whole days before today that it is based on, at most `comparedDays`. */
  daysCompared: number;
  /** The day on which an amount is used up, `YYYY-MM-DD`; null if it lasts, or is used up already. */
  runsOutOn(amount: Decimal): string | null;
};

/**
 * Forecasts the total cost of a period: what is recorded and booked, the recurring charges that are due, and usage for each
 * remaining day. Expenses and allocations count only as recorded. The time of day has no influence.
 *
 * The usage of a day is the median of the same weekdays of the last five weeks, each moved along the trend, which is the median
 * daily change. A trend counts if two thirds of the changes have the same direction, and continues for as long as it was observed.
 * Today's usage so far is deducted from today's part.
 *
 * The total should lie in the range in at least four of five cases. The range takes the lower and the upper third of the changes
 * as the trend, continued to the end of the period, and adds the lower and upper tenth of the distances of past days from their
 * forecast, times the error of a sum of so many days. A sudden change of level, or a random drift, is not predicted.
 * @returns null if the period does not contain today, fewer than three days of usage are known (unless there is no usage and
 * only charges are due), or the rounded total is not above zero
 */
export function forecastSpend({ range, today, recorded, usage, coming }: ForecastBasis): Forecast | null {
  if (range.until === "infinity" || today < range.from || today >= range.until) return null;
  const compared = listCompared(usage, today);
  const hasChargesOnly = compared.length === 0 && coming.length > 0;
  if (compared.length < leastDays && !hasChargesOnly) return null;
  const left = Array.from({ length: countDays({ from: today, until: range.until }) }, (_, at) =>
    addDays(today, at),
  );
  const expect = hasChargesOnly ? noUsage : expectUsage(compared, left, usage, today);
  const median = toDecimal(total(expect.days));
  const charges = sum(coming.map(({ amount }) => amount));
  const known = add(recorded, charges);
  const step = stepOf(median, toDecimal(expect.high - expect.low));
  const rounded = atLeast(
    roundToStep(add(known, median), isZero(median) ? undefined : step, "nearest"),
    known,
  );
  if (compare(rounded, zero) <= 0) return null;
  return {
    total: rounded,
    low: atLeast(roundToStep(add(known, toDecimal(expect.low)), step, "down"), known),
    high: roundToStep(add(known, toDecimal(expect.high)), step, "up"),
    recorded,
    coming: charges,
    added: subtract(rounded, known),
    daysLeft: left.length,
    daysCompared: compared.length,
    runsOutOn(amount) {
      if (compare(recorded, amount) >= 0) return null;
      let spent = recorded;
      for (const [index, day] of left.entries()) {
        const due = coming.filter((charge) => charge.day === day || (index === 0 && charge.day < day));
        spent = sum([spent, toDecimal(expect.days[index] ?? 0n), ...due.map((charge) => charge.amount)]);
        if (compare(spent, amount) >= 0) return day;
      }
      return null;
    },
  };
}

// Estimates are computed in integers, in the smallest part of a dollar that the ledger stores, because each takes thousands of
// steps.
const toUnits = (usd: Decimal): bigint => BigInt(toText(shiftDecimal(roundMoney(usd), moneyScale)));
const toDecimal = (units: bigint): Decimal => shiftDecimal(parseDecimal(units), -moneyScale);
const total = (amounts: bigint[]): bigint => amounts.reduce((all, each) => all + each, 0n);
const atMost = (amount: bigint, most: bigint) => (amount < most ? amount : most);
const notBelow = (amount: bigint, least: bigint) => (amount < least ? least : amount);

/** What usage is expected to cost on each remaining day, and the range of the sum, in units. */
type ExpectedUsage = { days: bigint[]; low: bigint; high: bigint };

const noUsage: ExpectedUsage = { days: [], low: 0n, high: 0n };

function expectUsage(
  compared: string[],
  left: string[],
  usage: ReadonlyMap<string, Decimal>,
  today: string,
): ExpectedUsage {
  const past = compared.map((day) => toUnits(usage.get(day) ?? zero));
  const soFar = toUnits(usage.get(today) ?? zero);
  const weekdays = compared.map(weekdayOf);
  const alike = alikeByWeekday(weekdays);
  const trend = trendOf(past);
  /** The amounts of past days, moved along the trend to today. */
  const moved = (slope: bigint) => past.map((amount, index) => amount + slope * BigInt(past.length - index));
  const levelsOf = (amounts: bigint[]) =>
    alike.map((indices) => quantilesOf(indices.map((index) => amounts[index] ?? 0n)).median);
  const daysFor = (slope: bigint, lasts: number): bigint[] => {
    const levels = levelsOf(moved(slope));
    return left.map((day, index) => {
      const level = (levels[weekdayOf(day)] ?? 0n) + slope * BigInt(Math.min(index, lasts));
      return notBelow(index === 0 ? level - soFar : level, 0n);
    });
  };
  const days = daysFor(trend.median, past.length);
  const amounts = moved(trend.median);
  const levels = levelsOf(amounts);
  const distances = quantilesOf(
    amounts.map((amount, index) => amount - (levels[weekdays[index] ?? 0] ?? 0n)),
    10,
  );
  // The error of the sum: days vary independently, and their level is estimated from the compared days.
  const ofSum = BigInt(Math.round(Math.sqrt(left.length + left.length ** 2 / past.length) * 1e6));
  const noise = (distance: bigint) => (notBelow(distance, 0n) * ofSum) / 1_000_000n;
  const lowest = atMost(total(daysFor(trend.low, left.length)), total(days));
  const highest = notBelow(total(daysFor(trend.high, left.length)), total(days));
  return {
    days,
    low: notBelow(lowest - noise(-distances.low), 0n),
    high: highest + noise(distances.high),
  };
}

/** The whole days that a forecast is based on: those before today, from the first one with usage. */
function listCompared(usage: ReadonlyMap<string, Decimal>, today: string): string[] {
  const all = Array.from({ length: comparedDays }, (_, index) => addDays(today, index - comparedDays));
  const first = all.findIndex((day) => compare(usage.get(day) ?? zero, zero) !== 0);
  return first < 0 ? [] : all.slice(first);
}

/** 0 is Sunday. */
const weekdayOf = (day: string) => new Date(Date.parse(day)).getUTCDay();
const isWeekend = (weekday: number) => weekday === 0 || weekday === 6;

/**
 * For each weekday, Sunday first, the indices of comparable days: the same weekdays if at least three are known, otherwise all
 * working days or all weekend days, otherwise all days.
 */
function alikeByWeekday(weekdays: number[]): number[][] {
  const all = weekdays.map((_, index) => index);
  return Array.from({ length: 7 }, (_, weekday) => {
    const alike = [
      all.filter((index) => weekdays[index] === weekday),
      all.filter((index) => isWeekend(weekdays[index] ?? 0) === isWeekend(weekday)),
    ];
    return alike.find((each) => each.length >= leastDays) ?? all;
  });
}

/**
 * The daily change: the median of the changes between all pairs of days that are whole weeks apart, or between all pairs if less
 * than two weeks are known (Sen's slope, https://en.wikipedia.org/wiki/Theil–Sen_estimator). Zero unless two thirds of the
 * changes have the same direction.
 * @returns also the lower and the upper third of the changes
 */
function trendOf(past: bigint[]): Quantiles {
  const apart = past.length >= 14 ? 7 : 1;
  const changes = past.flatMap((late, index) =>
    past
      .slice(0, index)
      .flatMap((early, before) =>
        (index - before) % apart === 0 ? [(late - early) / BigInt(index - before)] : [],
      ),
  );
  const trend = quantilesOf(changes, 3);
  return { ...trend, median: trend.low > 0n || trend.high < 0n ? trend.median : 0n };
}

/** The median of some amounts, and their lower and upper quantile. */
type Quantiles = { low: bigint; median: bigint; high: bigint };

/** @param share the denominator of the outer quantiles: 3 for thirds */
function quantilesOf(amounts: bigint[], share = 2): Quantiles {
  const sorted = [...amounts].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const at = (index: number) => sorted[index] ?? 0n;
  const last = sorted.length - 1;
  return {
    low: at(Math.floor(last / share)),
    median: (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2n,
    high: at(last - Math.floor(last / share)),
  };
}

/**
 * The power of ten that a forecast is rounded to: a tenth of its range or a hundredth of what is added, whichever is more.
 * Undefined if nothing is added, because what is recorded is exact.
 */
function stepOf(added: Decimal, spread: Decimal): number | undefined {
  const uncertain = Math.max(Number(toText(spread)) / 10, Number(toText(added)) / 100);
  return uncertain > 0 ? Math.floor(Math.log10(uncertain)) : undefined;
}

function roundToStep(amount: Decimal, power: number | undefined, mode: "down" | "nearest" | "up"): Decimal {
  return power === undefined ? amount : roundTo(amount, -power, mode);
}

const atLeast = (amount: Decimal, least: Decimal) => (compare(amount, least) < 0 ? least : amount);

/** The days whose usage a forecast needs: today and the compared days before it. @param today `YYYY-MM-DD` */
export const usageDays = (today: string): DayRange => ({
  from: addDays(today, -comparedDays),
  until: addDays(today, 1),
});

/** The usage by day of some rows; amounts are USD as exact text. */
export const toUsage = (rows: { day: string; amount: string }[]): ReadonlyMap<string, Decimal> =>
  new Map(rows.map(({ day, amount }) => [day, parseDecimal(amount)]));

/** The details of a forecast in the form of the response. */
export function toForecastDetails(forecast: Forecast | null): z.output<typeof forecastDetails> {
  return (
    forecast && {
      low_usd: toExact(forecast.low),
      high_usd: toExact(forecast.high),
      recorded_usd: toExact(forecast.recorded),
      coming_usd: toExact(forecast.coming),
      added_usd: toExact(forecast.added),
      days_left: forecast.daysLeft,
      days_compared: forecast.daysCompared,
    }
  );
}
