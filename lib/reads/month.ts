/** A range of UTC calendar days: from the first day until before the second, `YYYY-MM-DD`. */
export type DayRange = { from: string; until: string };

/** The UTC calendar month that holds an instant. @param now milliseconds since 1970 */
export function monthOf(now: number): DayRange {
  const date = new Date(now);
  const first = (ahead: number) =>
    new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1)).toISOString().slice(0, 10);
  return { from: first(0), until: first(1) };
}
