import { dayOf } from "@/lib/contract/instant";
import type { DayRange } from "@/lib/contract/month";
import {
  add,
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  subtract,
  toText,
  zero,
} from "@/lib/ledger/pricing/decimal";

const dayMs = 24 * 60 * 60 * 1000;

/** The time after which a period's pace is meaningful, in ms: a tenth of the period, in whole days (3 of a month). */
function minimumElapsed(length: number): number {
  const tenth = length / 10;
  return Math.round(tenth / dayMs) * dayMs || tenth;
}

/**
 * The spend so far in USD. `usage` is extrapolated. `booked`, subscriptions and expenses, is not, because it was charged
 * once.
 */
export type Spent = { usage: Decimal; booked: Decimal };

/** The forecast of a period: its total in USD, and the day (`YYYY-MM-DD`) on which an amount is used up; null if it is not. */
export type Pace = { total: Decimal; runsOutOn(amount: Decimal): string | null };

/**
 * Forecasts a period's spend, if usage continues at its present rate.
 * @param now milliseconds since 1970
 * @returns null outside the period, while it is too young for a forecast, and while nothing is spent
 */
export function paceOf({ usage, booked }: Spent, { from, until }: DayRange, now: number): Pace | null {
  const start = Date.parse(from);
  const length = Date.parse(until) - start;
  const elapsed = now - start;
  const spent = add(usage, booked);
  // A range without an end has the length NaN, for which every comparison is false.
  const isForecastable = elapsed >= minimumElapsed(length) && elapsed < length;
  if (!isForecastable || compare(spent, zero) <= 0) return null;
  const milliseconds = (count: number) => parseDecimal(String(count));
  const total = add(booked, divideMoney(multiply(usage, milliseconds(length)), milliseconds(elapsed)));
  return {
    total,
    runsOutOn(amount) {
      const isUsedUp = compare(spent, amount) >= 0;
      if (isUsedUp || compare(total, amount) <= 0) return null;
      const left = subtract(amount, booked);
      const after = Number(toText(divideMoney(multiply(left, milliseconds(elapsed)), usage)));
      // Rounding may give the end of the period, which is the first day of the next one.
      return dayOf(start + Math.min(Math.floor(after), length - 1));
    },
  };
}
