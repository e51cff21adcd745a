import { byLocale, byZone, isEnglish, readerLocale, readerZone } from "@/components/reader/by-reader";

type Options = Intl.DateTimeFormatOptions;

/** @param figures the options for locales other than English, whose names of months and days are not shown */
const inUtc = (english: Options, figures: Options) => {
  const format = byLocale(
    (tag, locale) =>
      new Intl.DateTimeFormat(tag, { timeZone: "UTC", ...(isEnglish(locale) ? english : figures) }),
  );
  return (at: number | string) => format().format(new Date(at));
};

/** The name of a month or a day, in English for everybody. */
const inWords = (options: Options) => {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options });
  return (at: number | string) => format.format(new Date(at));
};

const dayOfMonth: Options = { day: "numeric", month: "numeric" };
const namedDay: Options = { day: "numeric", month: "short", year: "numeric" };
const figuresOfDay: Options = { day: "2-digit", month: "2-digit", year: "numeric" };
const time: Options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const timeWithSeconds: Options = { ...time, second: "2-digit" };

// Each function takes an instant, as ms since 1970 or ISO 8601, or a day `YYYY-MM-DD`, and formats it in UTC in the reader's locale.
// The examples are for the locales en-US and de-DE.

/** "Dec 5", "5.12." */
export const formatDay = inUtc({ day: "numeric", month: "short" }, dayOfMonth);
/** "December 5", "05.12.2026" */
export const formatLongDay = inUtc({ day: "numeric", month: "long" }, figuresOfDay);
/** "Dec 5, 2026", "05.12.2026" */
export const formatDate = inUtc(namedDay, figuresOfDay);
const withTime = (english: Options, figures: Options) => {
  const format = inUtc(english, figures);
  return (at: number | string) =>
    isEnglish(readerLocale()) ? format(at) : `${formatDate(at)}, ${format(at)}`;
};
/** "Dec 5, 2026, 6:00 PM", "05.12.2026, 18:00" */
export const formatDateTime = withTime({ dateStyle: "medium", timeStyle: "short" }, time);
/** "Dec" */
const formatShortMonth = inWords({ month: "short" });
const shortMonthAndYear = inWords({ month: "short", year: "numeric" });
/** Labels months on an axis: "Dec", or "Dec 2026" if they span several years. @param days one of each month, `YYYY-MM-DD` */
export const formatMonthsOf = (days: string[]) => (isWithinYear(days) ? formatShortMonth : shortMonthAndYear);
const isWithinYear = (days: string[]) => new Set(days.map((day) => day.slice(0, 4))).size <= 1;
/** Labels days on an axis: "Dec 5", or "Dec 5, 2026" if they span several years. @param days `YYYY-MM-DD` */
export const formatDaysOf = (days: string[]) => (isWithinYear(days) ? formatDay : formatDate);
/** "December" */
export const formatMonth = inWords({ month: "long" });
/** "December 2026" */
export const formatMonthAndYear = inWords({ month: "long", year: "numeric" });

const weekdayAndDay = inUtc({ weekday: "short", day: "numeric", month: "short" }, dayOfMonth);
const weekday = inWords({ weekday: "short" });
/** "Sat, Dec 5", "Sat, 5.12." */
export const formatWeekday = (at: number | string) =>
  isEnglish(readerLocale()) ? weekdayAndDay(at) : `${weekday(at)}, ${weekdayAndDay(at)}`;

/** Titles of days: "Sat, Dec 5", or "Sat, Dec 5, 2026" if they span several years. @param days `YYYY-MM-DD` */
export const formatWeekdaysOf = (days: string[]) =>
  isWithinYear(days) ? formatWeekday : (at: number | string) => `${weekday(at)}, ${formatDate(at)}`;

const englishDays = byLocale((tag) => new Intl.DateTimeFormat(tag, { timeZone: "UTC", ...namedDay }));
/**
 * A range of days: "Dec 5 – 9, 2026", "05.12.2026 – 09.12.2026". Servers and browsers put different spaces around the dash, so
 * they are made equal.
 */
export const formatDays = (from: number | string, to: number | string) =>
  isEnglish(readerLocale())
    ? englishDays()
        .formatRange(new Date(from), new Date(to))
        .replaceAll(/\s*–\s*/gu, " – ")
    : `${formatDate(from)} – ${formatDate(to)}`;

/** The time of day in the time zone of the browser: "6:00:00 PM", "18:00:00". @param at ms since 1970 */
export const formatLocalTime = (at: number): string => localTime().format(at);
const localTime = byLocale(
  (tag, locale) =>
    new Intl.DateTimeFormat(tag, isEnglish(locale) ? { timeStyle: "medium" } : timeWithSeconds),
);

const zoned = byZone((tag, locale, timeZone) => {
  const of = (english: Options, figures: Options) =>
    new Intl.DateTimeFormat(tag, { timeZone, ...(isEnglish(locale) ? english : figures) });
  return {
    day: of({ day: "numeric", month: "short" }, dayOfMonth),
    date: of(namedDay, figuresOfDay),
    time: of({ timeStyle: "short" }, time),
    instant: of({ dateStyle: "medium", timeStyle: "medium" }, timeWithSeconds),
  };
});

/**
 * An instant in the time zone of the workspace: its day like `formatDay`, its date like `formatDate`, its time of day ("6:00 PM",
 * "18:00"), or all of it with the name of the zone: "Dec 5, 2026, 6:00:00 PM UTC".
 */
export const formatInZone = (at: Date, as: "day" | "date" | "time" | "instant"): string => {
  const text = zoned()[as].format(at);
  if (as !== "instant") return text;
  return `${isEnglish(readerLocale()) ? text : `${formatInZone(at, "date")}, ${text}`} ${readerZone()}`;
};
