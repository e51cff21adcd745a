import type { ClientBase } from "pg";
import type { ActivityFilters } from "@/lib/contract/spend/activity-filters";
import type { DayRange } from "@/lib/contract/values/month";
import { bigint, nullable, text } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import { condition, providerCondition } from "./filters";

// Finds the days that a search of activity has to read, from the daily totals, which have few rows.

const foundDay = { day: nullable(text()) };

/** A filter that the daily totals can answer: a dimension and its value, or any value if `value` is undefined. */
export type NamedFilter = {
  dimension: "project" | "key" | "provider" | "model" | "feature" | "user" | "tag";
  value?: string | null;
};

/**
 * Finds the last day of the range that can have matching rows: each name has some on it or later, though not necessarily the
 * same rows. Null if a name has none.
 */
export async function selectLastDay(
  client: ClientBase,
  workspaceId: string,
  { environment, type }: ActivityFilters,
  names: NamedFilter[],
  { from, until }: DayRange,
): Promise<string | null> {
  const lastDays = names.map(
    (name) => sql`
      select max(day) as day ${totalsOf(workspaceId, { environment, type }, name)} and day >= ${from} and day < ${until}`,
  );
  const { day } = await selectOne(
    client,
    foundDay,
    sql`select case when bool_and(day is not null) then to_char(min(day), 'YYYY-MM-DD') end as day
      from (${join(lastDays, " union all ")}) as latest`,
  );
  return day;
}

/** The daily totals of one name, as the `from` part of a query. */
function totalsOf(
  workspaceId: string,
  { environment, type }: Pick<ActivityFilters, "environment" | "type">,
  { dimension, value }: NamedFilter,
): Sql {
  return sql`from public.daily_totals
    where workspace_id = ${workspaceId} and environment = any (${environmentsOf(environment)})
      and dimension = ${dimension} ${(dimension === "provider" ? providerCondition : condition)(sql`value`, value)} ${condition(sql`type`, type)}`;
}

/** The most messages that can match: the count of the name that has the fewest. */
export async function selectMessageCount(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  names: NamedFilter[],
  { from, until }: DayRange,
): Promise<number> {
  const { project } = filters;
  const within = sql`and day >= ${from} and day < ${until}`;
  const counts = (names.length > 0 ? names : [{ dimension: "provider" } as const]).map(
    (name) => sql`select sum(message_count) as messages ${totalsOf(workspaceId, filters, name)} ${within}`,
  );
  const ofProject = sql`select sum(message_count) as messages ${totalsOf(workspaceId, filters, { dimension: "project" })} ${within}
    and value = (select id::text from public.projects where workspace_id = ${workspaceId} and slug = ${project})`;
  const { messages } = await selectOne(
    client,
    { messages: bigint() },
    sql`select coalesce(min(coalesce(messages, 0)), 0)::bigint as messages
      from (${join(project === undefined ? counts : [...counts, ofProject], " union all ")}) as counts`,
  );
  return Number(messages);
}

/**
 * Counts back from the end of a range to the day by which `messages` messages are reached; the day counts as a whole. Null if
 * the range has fewer.
 */
export async function selectDayAhead(
  client: ClientBase,
  workspaceId: string,
  { environment, project }: ActivityFilters,
  { from, until }: DayRange,
  messages: number,
): Promise<string | null> {
  // The totals of every dimension include all messages. Providers have the fewest rows.
  const named =
    project === undefined
      ? sql`dimension = 'provider'`
      : sql`dimension = 'project' and value = (
          select id::text from public.projects where workspace_id = ${workspaceId} and slug = ${project}
        )`;
  const dayAhead = (isNear: Sql) => sql`
    select to_char(max(day), 'YYYY-MM-DD')
    from (
      select day, sum(sum(message_count)) over (order by day desc) as passed
      from public.daily_totals
      where workspace_id = ${workspaceId} and environment = any (${environmentsOf(environment)})
        and ${named} and day >= ${from} and day < ${until} ${isNear}
      group by day
    ) as days
    where passed >= ${messages}`;
  const near = sql`and day > least(${until}, current_date) - ${nearDays}::int`;
  const { day } = await selectOne(
    client,
    foundDay,
    // All days are read only if the latest ones have too few messages: in a large workspace they suffice.
    sql`select coalesce((${dayAhead(near)}), (${dayAhead(empty)})) as day`,
  );
  return day;
}

/** The number of latest days in which `selectDayAhead` looks first. */
const nearDays = 31;

const environmentsOf = (environment: ActivityFilters["environment"]) =>
  environment === undefined ? ["live", "test"] : [environment];
