import { dayOf } from "@/lib/contract/values/instant";

/** The first day of the month that many months ago, `YYYY-MM-DD`. */
export function firstDay(monthsAgo: number): string {
  const today = new Date();
  return dayOf(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsAgo, 1));
}

/** A month that can be closed on any day, and the one before it, `YYYY-MM`. */
export const closed = firstDay(2).slice(0, 7);
export const earlier = firstDay(3).slice(0, 7);
