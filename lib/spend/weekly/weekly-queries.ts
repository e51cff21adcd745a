import type { ClientBase } from "pg";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { bigint, date, nullable, numeric, type Row, text, timestamp } from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { empty, join, sql } from "@/lib/db/sql";
import { firstDayFrom, isBetween, startOf } from "@/lib/ledger/days";
import { countOf } from "@/lib/spend/listed-postings";

/** The dimensions of which a report lists what changed most. */
export const moverDimensions = ["project", "user", "key", "model"] as const;

const weekRow = {
  /** `total` has the sums of everything; `unpriced` names a model with usage without a price. */
  kind: text<"total" | "unpriced" | (typeof moverDimensions)[number]>(),
  name: nullable(text()),
  amount: numeric(),
  before_amount: numeric(),
  messages: numeric(),
  unpriced: numeric(),
  /** The rank among the rows of its kind. */
  place: bigint(),
};
export type WeekRow = Row<typeof weekRow>;

/** A span of time, in milliseconds since 1970; `until` is the first instant after it. */
export type WeekSpan = { from: number; until: number };

/** Splits a span into whole days of a time zone and the hours before and after them. */
function split(timeZone: string, { from, until }: WeekSpan): { days: DayRange; edges: WeekSpan[] } {
  const days = {
    from: firstDayFrom(timeZone, from),
    until: dayOf(clockOf(timeZone, until).now),
  };
  const edges = [
    { from, until: startOf(timeZone, days.from) },
    { from: startOf(timeZone, days.until), until },
  ];
  return { days, edges: edges.filter((edge) => edge.from < edge.until) };
}

const bounds = { week: date(), before_at: timestamp(), from_at: timestamp(), until_at: timestamp() };

/**
 * The instants at which a week of a time zone and the one before it begin and end.
 * @param monday the first day of the week; null for the last complete week
 */
export function selectBounds(client: ClientBase, zone: string, monday: string | null) {
  return selectOne(
    client,
    bounds,
    sql`select week, ((week - 7)::timestamp at time zone ${zone}) as before_at, (week::timestamp at time zone ${zone}) as from_at,
        ((week + 7)::timestamp at time zone ${zone}) as until_at
      from (select coalesce(${monday}::date, date_trunc('week', now() at time zone ${zone})::date - 7) as week) as chosen`,
  );
}

/**
 * Reads the live spend of a week and of the week before. Whole days of the workspace are read from the daily totals and the hours
 * around them from the messages, so the sums equal those of the messages in any time zone.
 * @param atMost the most movers of each dimension, and the most models without a price
 */
export function selectWeek(
  client: ClientBase,
  { id: workspaceId, timeZone }: { id: string; timeZone: string },
  { week, before }: { week: WeekSpan; before: WeekSpan },
  atMost: number,
): Promise<WeekRow[]> {
  const parts = [split(timeZone, before), split(timeZone, week)];
  const edges = parts.flatMap((part) => part.edges);
  const wholeDays = parts.map((part) => part.days);
  const between = ({ from, until }: WeekSpan) =>
    isBetween(timeZone, sql`m.occurred_at`, toInstant(from), toInstant(until));
  const ofMessages = () => sql`
    union all
    select part.dimension, part.value, m.amount_usd, case when m.part = 0 then ${countOf(sql`m`)} else 0 end,
      case when m.cost_status = 'unpriced' then ${countOf(sql`m`)} else 0 end,
      ${between(week)}
    from public.messages as m
    cross join lateral (
      values ('provider', m.provider), ('project', m.project_id::text), ('user', m.end_user), ('key', m.api_key_id::text),
        ('model', m.model)
    ) as part (dimension, value)
    where m.workspace_id = ${workspaceId} and m.environment = 'live' and (${join(edges.map(between), " or ")})`;
  return selectAll(
    client,
    weekRow,
    sql`with lines as (
      select dimension, value, amount_usd, message_count, unpriced_count,
        day >= ${wholeDays.at(-1)?.from}::date as is_current
      from public.daily_totals
      where workspace_id = ${workspaceId} and environment = 'live' and dimension in ('provider', 'project', 'user', 'key', 'model')
        and (${join(
          wholeDays.map(({ from, until }) => sql`day >= ${from}::date and day < ${until}::date`),
          " or ",
        )})
      ${edges.length > 0 ? ofMessages() : empty}
    ), sums as materialized (
      select dimension, value, coalesce(sum(amount_usd) filter (where is_current), 0) as amount,
        coalesce(sum(amount_usd) filter (where not is_current), 0) as before_amount,
        coalesce(sum(message_count) filter (where is_current), 0) as messages,
        coalesce(sum(unpriced_count) filter (where is_current), 0) as unpriced
      from lines
      group by dimension, value
    ), movers as (
      select *, row_number() over (partition by dimension order by abs(amount - before_amount) desc, value collate "C") as place
      from sums
      where dimension <> 'provider' and value is not null and amount <> before_amount
    ), priceless as (
      select *, row_number() over (order by unpriced desc, value collate "C") as place
      from sums
      where dimension = 'model' and value is not null and unpriced > 0
    )
    select 'total' as kind, null as name, coalesce(sum(amount), 0) as amount, coalesce(sum(before_amount), 0) as before_amount,
      coalesce(sum(messages), 0) as messages, coalesce(sum(unpriced), 0) as unpriced, 0 as place
    from sums
    -- Each dimension that has rows without a name sums to the whole; there are fewest providers.
    where dimension = 'provider'
    union all
    select dimension, coalesce(projects.name, keys.name, value), amount, before_amount, messages, unpriced, place
    from movers
    left join public.projects
      on dimension = 'project' and projects.workspace_id = ${workspaceId} and projects.id::text = value
    left join public.api_keys as keys
      on dimension = 'key' and keys.workspace_id = ${workspaceId} and keys.id::text = value
    where place <= ${atMost}
    union all
    select 'unpriced', value, amount, before_amount, messages, unpriced, place
    from priceless
    where place <= ${atMost}
    order by kind, place`,
  );
}
