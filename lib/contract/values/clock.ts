import { dayOf } from "./instant";

/**
 * The clock of a workspace at an instant. `now`: the local time that the clock shows, as the milliseconds since 1970 of the UTC time
 * that reads the same, so that days, weeks and months are computed as in UTC. `instant`: the instant itself, milliseconds since 1970.
 */
export type Clock = { timeZone: string; now: number; instant: number };

/** The clock of a time zone. @param instant milliseconds since 1970 */
export function clockOf(timeZone: string, instant: number): Clock {
  return { timeZone, now: instant + offsetOf(timeZone, instant), instant };
}

/** The first instant at which a clock shows a time, even one that daylight saving skips. @param shown see `Clock.now` */
export function instantOf(timeZone: string, shown: number): number {
  // Around a change of the clocks, the offset is that of a day before or of a day after.
  const instants = [-dayMs, dayMs].map((away) => shown - offsetOf(timeZone, shown + away));
  const fitting = instants.filter((instant) => instant + offsetOf(timeZone, instant) === shown);
  return fitting.length > 0 ? Math.min(...fitting) : Math.max(...instants);
}

const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The offset of a clock from UTC in milliseconds, negative if it is behind. */
function offsetOf(timeZone: string, instant: number): number {
  if (timeZone === "UTC") return 0;
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  const shown = Object.fromEntries(
    format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  const whole = Math.floor(instant / 1000) * 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

/**
 * The day on which a posting is summed, `YYYY-MM-DD`, in a time zone. What occurred at exactly midnight UTC belongs to that UTC day in
 * every zone, as in `private.local_time`. @param occurredAt milliseconds since 1970, with fractions
 */
export function postedOn(timeZone: string, occurredAt: number): string {
  return dayOf(occurredAt % dayMs === 0 ? occurredAt : clockOf(timeZone, occurredAt).now);
}
