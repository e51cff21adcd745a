/** The period of a subscription: a month, or a year, which is booked as twelve months. */
export type Interval = "month" | "year";

/**
 * The day `months` calendar months after `day` (`YYYY-MM-DD`), or the last day of that month if it is shorter. Count from the first day
 * of a subscription, so that 31 January is followed by 28 February and 31 March.
 */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const lastDate = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, lastDate))).toISOString().slice(0, 10);
}

/** The first day of a subscription's period `index`; period 0 is its first. */
export function periodStart(anchor: string, interval: Interval, index: number): string {
  return addMonths(anchor, index * (interval === "year" ? 12 : 1));
}
