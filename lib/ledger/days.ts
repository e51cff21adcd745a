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
 * What the clock of a time zone shows at a column's instants, as `private.local_time` has it: what occurred at exactly midnight UTC is
 * at midnight. Written out, because users may call no function of that schema.
 */
function localTime(timeZone: string, occurredAt: Sql): Sql {
  const inUtc = sql`(${occurredAt} at time zone 'UTC')`;
  return sql`(case when ${inUtc}::time = '00:00' then ${inUtc} else ${occurredAt} at time zone ${timeZone} end)`;
}

/** The day on which a posting is summed, as `postedOn` has it. */
export function dayIn(timeZone: string, occurredAt: Sql): Sql {
  if (timeZone === "UTC") return sql`(${occurredAt} at time zone 'UTC')::date`;
  return sql`${localTime(timeZone, occurredAt)}::date`;
}

/**
 * That a posting is summed on a day of a range.
 * @param before only what occurred before this time of the clock
 */
export function isOnDays(occurredAt: Sql, { timeZone, from, until }: ZonedDays, before?: number): Sql {
  const end = before === undefined ? until : new Date(before).toISOString().slice(0, -1);
  if (timeZone === "UTC") {
    const instant = (time: string) =>
      time.endsWith("infinity") ? time : time.includes("T") ? `${time}Z` : `${time}T00:00:00Z`;
    return sql`${occurredAt} >= ${instant(from)}::timestamptz and ${occurredAt} < ${instant(end)}::timestamptz`;
  }
  const shown = localTime(timeZone, occurredAt);
  // The first two bounds are those of all zones: by them, rows are found by an index.
  return sql`${occurredAt} >= (${from}::timestamp - interval '14 hours') at time zone 'UTC'
    and ${occurredAt} < (${until}::timestamp + interval '12 hours') at time zone 'UTC'
    and ${shown} >= ${from}::timestamp and ${shown} < ${end}::timestamp`;
}

/** The first day of a time zone that begins at an instant or later. @param instant milliseconds since 1970, with parts of one */
export function firstDayFrom(timeZone: string, instant: number): string {
  const day = dayOf(clockOf(timeZone, instant).now);
  return startOf(timeZone, day) >= instant ? day : dayOf(Date.parse(day) + 86_400_000);
}

/** The instant at which a day of a time zone begins, in milliseconds since 1970. */
export function startOf(timeZone: string, day: string): number {
  return instantOf(timeZone, Date.parse(day));
}

/** The first instant that is on a day of a time zone or later, in milliseconds since 1970: that of midnight UTC is (`postedOn`). */
export function firstInstantOn(timeZone: string, day: string): number {
  return Math.min(startOf(timeZone, day), Date.parse(day));
}

/**
 * That a posting is between two instants, where what occurred at exactly midnight UTC is at the beginning of that day of the zone, so
 * that from midnight to midnight it is on these days (`isOnDays`). @param from, to ISO 8601
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
