import {
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  toText,
  zero,
} from "@/lib/pricing/decimal";
import { monthOf } from "./month";

const dayMs = 24 * 60 * 60 * 1000;
/** Before so many days of a month have passed, its pace says nothing. */
const paceFromDay = 3;

/** Where a month is heading: what it comes to, and the day on which a given amount is used up. */
export type Pace = { total: Decimal; runsOutOn(amount: Decimal): string | null };

/**
 * What the current UTC month comes to if it goes on as so far.
 * @param spent so far, USD
 * @param now milliseconds since 1970
 * @returns null while the month is too young to tell, and while nothing is spent
 */
export function monthPace(spent: Decimal, now: number): Pace | null {
  const { from, until } = monthOf(now);
  const start = Date.parse(from);
  const length = Date.parse(until) - start;
  const elapsed = now - start;
  if (elapsed < paceFromDay * dayMs || compare(spent, zero) <= 0) return null;
  const milliseconds = (count: number) => parseDecimal(String(count));
  const total = divideMoney(multiply(spent, milliseconds(length)), milliseconds(elapsed));
  return {
    total,
    runsOutOn(amount) {
      const isUsedUp = compare(spent, amount) >= 0;
      if (isUsedUp || compare(total, amount) <= 0) return null;
      const after = Number(toText(divideMoney(multiply(amount, milliseconds(elapsed)), spent)));
      // Rounded, the moment may fall on the very end of the month, which is the next one's first day.
      return new Date(start + Math.min(Math.floor(after), length - 1)).toISOString().slice(0, 10);
    },
  };
}
