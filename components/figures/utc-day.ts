/** Milliseconds of a day. */
export const dayMs = 24 * 60 * 60 * 1000;

/** The UTC day of an instant, `YYYY-MM-DD`. @param at ms since 1970, or an ISO 8601 text with its offset */
export function utcDay(at: number | string): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The instant at which a UTC day begins, ISO 8601. @param day `YYYY-MM-DD` */
export function startOfDay(day: string): string {
  return `${day}T00:00:00Z`;
}

/** The UTC day a number of days after another one. @param day `YYYY-MM-DD` */
export function addDays(day: string, days: number): string {
  return utcDay(Date.parse(day) + days * dayMs);
}
