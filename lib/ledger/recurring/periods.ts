/** A period of a subscription: a month, or a year that is booked as twelve months. */
export type Interval = "month" | "year";

/**
 * The day `months` calendar months after `day` (`YYYY-MM-DD`, UTC). A month that has no such day ends it on its last:
 * always reckoned from the first day, so that the 31st of January is followed by the 28th of February and the 31st of March.
 */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const lastDate = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, lastDate))).toISOString().slice(0, 10);
}

/** The first day of a subscription's period `index` (0 is the one it began with). */
export function periodStart(anchor: string, interval: Interval, index: number): string {
  return addMonths(anchor, index * (interval === "year" ? 12 : 1));
}
