/** A range of UTC calendar days: from the first day until before the second, `YYYY-MM-DD`. */
export type DayRange = { from: string; until: string };

/** The UTC calendar month that holds an instant. @param now milliseconds since 1970 */
export function monthOf(now: number): DayRange {
  const first = (ahead: number) => {
    // Date.UTC would take the years 0 to 99 for those of the last century.
    const day = new Date(now);
    day.setUTCMonth(day.getUTCMonth() + ahead, 1);
    return day.toISOString().slice(0, 10);
  };
  return { from: first(0), until: first(1) };
}
