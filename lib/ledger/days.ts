import type { ClientBase } from "pg";
import { type Clock, clockOf, instantOf } from "@/lib/contract/values/clock";
import { dayOf, exactMs } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { text } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";

/** Days of a time zone. */
export type ZonedDays = DayRange & { timeZone: string };

/** The clock of a key's workspace, in a transaction of the key. */
export async function loadKeyClock(client: ClientBase, workspaceId: string, instant: number): Promise<Clock> {
  const { zone } = await selectOne(
    client,
    { zone: text() },
    sql`select private.time_zone_of(${workspaceId}) as zone`,
  );
  return clockOf(zone, instant);
}

/**
 * The local time of a column's instants in a time zone, by the rule of `private.local_time`: an instant at exactly midnight UTC counts
 * as midnight of that date in every zone. Repeated here because users may not call functions of that schema.
 */
function localTime(timeZone: string, occurredAt: Sql): Sql {
  const inUtc = sql`(${occurredAt} at time zone 'UTC')`;
  return sql`(case when ${inUtc}::time = '00:00' then ${inUtc} else ${occurredAt} at time zone ${timeZone} end)`;
}

/** The day whose sums include a posting, by the rule of `postedOn`. */
export function dayIn(timeZone: string, occurredAt: Sql): Sql {
  if (timeZone === "UTC") return sql`(${occurredAt} at time zone 'UTC')::date`;
  return sql`${localTime(timeZone, occurredAt)}::date`;
}

/**
 * Condition: the day of a posting (`dayIn`) is in a range.
 * @param before only postings before this local time, milliseconds since 1970 as if the zone were UTC
 */
export function isOnDays(occurredAt: Sql, { timeZone, from, until }: ZonedDays, before?: number): Sql {
  const end = before === undefined ? until : new Date(before).toISOString().slice(0, -1);
  if (timeZone === "UTC") {
    const instant = (time: string) =>
      time.endsWith("infinity") ? time : time.includes("T") ? `${time}Z` : `${time}T00:00:00Z`;
    return sql`${occurredAt} >= ${instant(from)}::timestamptz and ${occurredAt} < ${instant(end)}::timestamptz`;
  }
  const shown = localTime(timeZone, occurredAt);
  // The first two bounds hold in every zone and can use an index.
  return sql`${occurredAt} >= (${from}::timestamp - interval '14 hours') at time zone 'UTC'
    and ${occurredAt} < (${until}::timestamp + interval '12 hours') at time zone 'UTC'
    and ${shown} >= ${from}::timestamp and ${shown} < ${end}::timestamp`;
}

/** The first day of a time zone that begins at an instant or later. @param instant milliseconds since 1970, possibly fractional */
export function firstDayFrom(timeZone: string, instant: number): string {
  const day = dayOf(clockOf(timeZone, instant).now);
  return startOf(timeZone, day) >= instant ? day : dayOf(Date.parse(day) + 86_400_000);
}

/** The instant at which a day of a time zone begins, in milliseconds since 1970. */
export function startOf(timeZone: string, day: string): number {
  return instantOf(timeZone, Date.parse(day));
}

/**
 * The first instant that counts for a day of a time zone, in milliseconds since 1970: the day's local midnight or the date's midnight
 * UTC, which counts for the day in every zone (`postedOn`), whichever is earlier.
 */
function firstInstantOn(timeZone: string, day: string): number {
  return Math.min(startOf(timeZone, day), Date.parse(day));
}

/**
 * The first instant that is in no closed month, ms since 1970; -Infinity if no month is closed.
 * @param closedUntil the first open day, or null
 */
export function firstOpenInstant(timeZone: string, closedUntil: string | null): number {
  return closedUntil === null ? Number.NEGATIVE_INFINITY : firstInstantOn(timeZone, closedUntil);
}

/**
 * Condition: a posting occurred between two instants. Exactly midnight UTC counts as the beginning of that date in the zone, so that a
 * range from midnight to midnight has the same postings as its days (`isOnDays`). @param from, to ISO 8601
 */
export function isBetween(timeZone: string, occurredAt: Sql, from: string, to: string): Sql {
  const between = sql`${occurredAt} >= ${from}::timestamptz and ${occurredAt} < ${to}::timestamptz`;
  if (timeZone === "UTC") return between;
  const [first, until] = [from, to].map((end) => firstDayFrom(timeZone, exactMs(end)));
  return sql`
    ${occurredAt} >= least(${from}::timestamptz, ${`${first}T00:00:00Z`}::timestamptz)
    and ${occurredAt} < greatest(${to}::timestamptz, ${`${until}T00:00:00Z`}::timestamptz)
    and case when (${occurredAt} at time zone 'UTC')::time = '00:00'
      then (${occurredAt} at time zone 'UTC')::date >= ${first}::date and (${occurredAt} at time zone 'UTC')::date < ${until}::date
      else ${between} end`;
}
