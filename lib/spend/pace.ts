import { dayOf } from "@/lib/contract/instant";
import { type DayRange, monthOf } from "@/lib/contract/month";
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

/** Before a tenth of a period has passed, its pace says nothing: the first three days of a month. */
function tellingAfter(length: number): number {
  const tenth = length / 10;
  return Math.round(tenth / dayMs) * dayMs || tenth;
}

/**
 * What was spent so far, USD. `usage` goes on as it does; what is `booked`, subscriptions and expenses, was charged once and
 * is not charged again for that.
 */
export type Spent = { usage: Decimal; booked: Decimal };

/** Where a period is heading: what it comes to, and the day on which a given amount is used up. */
export type Pace = { total: Decimal; runsOutOn(amount: Decimal): string | null };

/** Where the current UTC month is heading, as `paceOf`. */
export function monthPace(spent: Spent, now: number): Pace | null {
  return paceOf(spent, monthOf(now), now);
}

/**
 * Where a period is heading if usage goes on as so far.
 * @param now milliseconds since 1970
 * @returns null before it begins and while it is too young to tell, when it is over, and while nothing is spent
 */
export function paceOf({ usage, booked }: Spent, { from, until }: DayRange, now: number): Pace | null {
  const start = Date.parse(from);
  const length = Date.parse(until) - start;
  const elapsed = now - start;
  const spent = add(usage, booked);
  // Where the range has no end, its length is no number, and no comparison with it holds.
  const isTelling = elapsed >= tellingAfter(length) && elapsed < length;
  if (!isTelling || compare(spent, zero) <= 0) return null;
  const milliseconds = (count: number) => parseDecimal(String(count));
  const total = add(booked, divideMoney(multiply(usage, milliseconds(length)), milliseconds(elapsed)));
  return {
    total,
    runsOutOn(amount) {
      const isUsedUp = compare(spent, amount) >= 0;
      if (isUsedUp || compare(total, amount) <= 0) return null;
      const left = subtract(amount, booked);
      const after = Number(toText(divideMoney(multiply(left, milliseconds(elapsed)), usage)));
      // Rounded, the moment may fall on the very end of the period, which is the next one's first day.
      return dayOf(start + Math.min(Math.floor(after), length - 1));
    },
  };
}
