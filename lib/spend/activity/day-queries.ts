import type { ClientBase } from "pg";
import type { ActivityFilters } from "@/lib/contract/spend/activity";
import type { DayRange } from "@/lib/contract/values/month";
import { bigint, nullable, text } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import { condition, providerCondition } from "./filters";

// Where a search of activity looks: answered from the sums of days, which are few.

const foundDay = { day: nullable(text()) };

/** The last day with spend of the names that were asked for, from the daily totals. */
export type NamedFilter = {
  dimension: "project" | "key" | "provider" | "model" | "feature" | "user" | "tag";
  value?: string | null;
};

/**
 * The last day before `until` on which there may be rows that match: each of the names has some, if not together. Null
 * where there are none.
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

/** The totals of the days of one name. */
function totalsOf(
  workspaceId: string,
  { environment, type }: Pick<ActivityFilters, "environment" | "type">,
  { dimension, value }: NamedFilter,
): Sql {
  return sql`from public.daily_totals
    where workspace_id = ${workspaceId} and environment = any (${environmentsOf(environment)})
      and dimension = ${dimension} ${(dimension === "provider" ? providerCondition : condition)(sql`value`, value)} ${condition(sql`type`, type)}`;
}

/** How many messages match at most: those of the name that has fewest. */
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
 * The day on which, from the end of a range on, so many messages have gone by: a whole number of days, one at least. Null
 * where the range has fewer.
 */
export async function selectDayAhead(
  client: ClientBase,
  workspaceId: string,
  { environment, project }: ActivityFilters,
  { from, until }: DayRange,
  messages: number,
): Promise<string | null> {
  // Any dimension has all messages; there are fewest providers.
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
    // The second is asked only where the first finds none: years of totals are read where there are few messages.
    sql`select coalesce((${dayAhead(near)}), (${dayAhead(empty)})) as day`,
  );
  return day;
}

/** Where a day ahead is looked for first: in so many days. */
const nearDays = 31;

const environmentsOf = (environment: ActivityFilters["environment"]) =>
  environment === undefined ? ["live", "test"] : [environment];
