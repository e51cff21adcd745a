/** A range of calendar days, `YYYY-MM-DD`: from the first day to before the second. */
export type DayRange = { from: string; until: string };

/** The calendar month that contains a moment. @param now what a clock shows; see `Clock.now` */
export function monthOf(now: number): DayRange {
  const first = (ahead: number) => {
    // Date.UTC would read the years 0 to 99 as 1900 to 1999.
    const day = new Date(now);
    day.setUTCMonth(day.getUTCMonth() + ahead, 1);
    return day.toISOString().slice(0, 10);
  };
  return { from: first(0), until: first(1) };
}
