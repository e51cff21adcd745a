const inUtc = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options });
  return (at: number | string) => format.format(new Date(at));
};

// Each takes an instant, as ms since 1970 or ISO 8601, or a UTC day `YYYY-MM-DD`, and writes it in UTC.

/** "Dec 5" */
export const formatDay = inUtc({ day: "numeric", month: "short" });
/** "December 5" */
export const formatLongDay = inUtc({ day: "numeric", month: "long" });
/** "Sat, Dec 5" */
export const formatWeekday = inUtc({ weekday: "short", day: "numeric", month: "short" });
/** "Dec 5, 2026" */
export const formatDate = inUtc({ day: "numeric", month: "short", year: "numeric" });
/** "Dec 5, 2026, 6:00 PM" */
export const formatDateTime = inUtc({ dateStyle: "medium", timeStyle: "short" });
/** "Dec 5, 2026, 6:00:00 PM" */
export const formatExactTime = inUtc({ dateStyle: "medium", timeStyle: "medium" });
/** "Dec" */
export const formatShortMonth = inUtc({ month: "short" });
/** "December" */
export const formatMonth = inUtc({ month: "long" });
/** "December 2026" */
export const formatMonthAndYear = inUtc({ month: "long", year: "numeric" });

const days = new Intl.DateTimeFormat("en-US", {
  timeZone: "UTC",
  day: "numeric",
  month: "short",
  year: "numeric",
});
/** "Dec 5 – 9, 2026": some days, from the first to the last. Servers and browsers put different spaces around the dash. */
export const formatDays = (from: number | string, to: number | string) =>
  days.formatRange(new Date(from), new Date(to)).replaceAll(/\s*–\s*/gu, " – ");
