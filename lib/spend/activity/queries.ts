import type { ClientBase } from "pg";
import type { ActivityFilters, ActivityRow } from "@/lib/contract/activity";
import type { MessageType, Source } from "@/lib/contract/message";
import type { DayRange } from "@/lib/contract/month";
import { integer, json, nullable, numeric, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import { condition, lineConditions, rowConditions } from "./filters";
import type { StoredLine } from "./message-queries";

/** A place in the order of activity: the row it stands behind. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type ActivityPlace = { at: string; id: string; part: number };

const activityRow = {
  id: uuid(),
  part: integer(),
  at: text(),
  occurred_at: timestamp(),
  created_at: timestamp(),
  amount_usd: numeric(),
  message_amount_usd: numeric(),
  message_type: text<MessageType>(),
  project_slug: text(),
  project_name: text(),
  environment: text<"live" | "test">(),
  feature: nullable(text()),
  source: text<Source>(),
  label: nullable(text()),
  provider: nullable(text()),
  model: nullable(text()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  line_count: integer(),
  cost_status: text<ActivityRow["cost_status"]>(),
  batch_id: nullable(text()),
  category: nullable(text()),
  details: nullable(json<{ plan?: string; interval?: string; from_project?: string }>()),
  /** The lines of a batch that match, where they were asked for. */
  lines: nullable(json<StoredLine[]>()),
  key_id: nullable(uuid()),
  key_name: nullable(text()),
  user_id: nullable(uuid()),
  user_name: nullable(text()),
};

/** A row of activity as stored; amounts are exact text. `at` is `occurred_at` to the microsecond. */
export type StoredActivity = Row<typeof activityRow>;

/** Rows in the order of activity, behind a place. The first condition is what partitions are chosen by. */
function inRange(
  workspaceId: string,
  filters: ActivityFilters,
  { from, until }: DayRange,
  behind: ActivityPlace | undefined,
): Sql {
  const instant = (day: string) => (day.endsWith("infinity") ? day : `${day}T00:00:00Z`);
  const isBehind = behind
    ? sql`and m.occurred_at <= ${behind.at}::timestamptz
      and (m.occurred_at, m.id, m.part) < (${behind.at}::timestamptz, ${behind.id}::uuid, ${behind.part}::smallint)`
    : empty;
  return sql`m.workspace_id = ${workspaceId}
    and m.occurred_at >= ${instant(from)}::timestamptz and m.occurred_at < ${instant(until)}::timestamptz
    ${isBehind} ${rowConditions(sql`m`, workspaceId, filters)}`;
}

/** The lines of a batch as JSON. Decimals as text: JSON's numbers would lose digits on their way into JavaScript. */
const linesOfBatch = sql`jsonb_agg(jsonb_build_object(
  'model', line.model, 'feature', line.feature, 'unit_type', line.unit_type, 'quantity', line.quantity,
  'amount_usd', line.amount_usd::text, 'cost_status', line.cost_status
))`;

/**
 * The postings that match, latest first, at most `limit`. Of a batch, the lines that match are summed.
 * @param options.withLines whether to return those lines too
 * @param options.notBefore a day before which not to look, however few were found
 */
export function selectActivity(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: DayRange,
  behind: ActivityPlace | undefined,
  limit: number,
  { withLines = false, notBefore }: { withLines?: boolean; notBefore?: string | undefined } = {},
): Promise<StoredActivity[]> {
  const { cost_status: status, q } = filters;
  const pattern = q === undefined ? undefined : `%${q.replace(/[\\%_]/g, "\\$&")}%`;
  const hasStatus = (row: Sql) => (status === undefined ? empty : sql`and ${row}.cost_status = ${status}`);
  const isFound = sql`
    and (concat_ws(E'\\n', m.label, m.feature, m.model, m.provider, m.notes) ilike ${pattern}
      or exists (
        select from jsonb_to_recordset(m.items) as line (model text, feature text)
        where concat_ws(E'\\n', line.model, line.feature) ilike ${pattern}
      ))`;
  return selectAll(
    client,
    activityRow,
    sql`with page as (
       select m.id, m.part, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.user_id, m.type, m.source,
         m.environment, m.provider, m.unit_type, m.quantity, m.batch_id, m.category, m.details, m.label,
         m.amount_usd as message_amount_usd,
         case when m.items is null then m.model else lines.model end as model,
         case when m.items is null then m.feature else lines.feature end as feature,
         case when m.items is null then m.cost_status else lines.cost_status end as cost_status,
         case when m.items is null then m.amount_usd else lines.amount_usd end as amount_usd,
         case when m.items is null then 1 else lines.line_count end as line_count,
         lines.lines
       from public.messages as m
       left join lateral (
         select count(*)::int as line_count, sum(line.amount_usd) as amount_usd,
           case when count(distinct coalesce(line.model, '')) = 1 then min(line.model) end as model,
           case when count(distinct coalesce(line.feature, '')) = 1 then min(line.feature) end as feature,
           case when bool_or(line.cost_status = 'unpriced') then 'unpriced'
             when bool_or(line.cost_status = 'priced') then 'priced' else 'client' end as cost_status,
           ${withLines ? linesOfBatch : sql`null::jsonb`} as lines
         from jsonb_to_recordset(m.items) as line (
           model text, feature text, unit_type text, quantity text, amount_usd numeric, cost_status text
         )
         where true ${hasStatus(sql`line`)} ${lineConditions(sql`line`, filters)}
       ) as lines on m.items is not null
       where ${inRange(workspaceId, filters, range, behind)}
         ${notBefore === undefined ? empty : sql`and m.occurred_at >= ${notBefore}::date::timestamp at time zone 'UTC'`}
         ${status === "unpriced" ? sql`and m.cost_status = 'unpriced'` : empty}
         -- Asked of the row alone, so that most rows are passed over without a look at their lines.
         and (m.items is not null or (true ${hasStatus(sql`m`)} ${lineConditions(sql`m`, filters)}))
         and (m.items is null or lines.line_count > 0)
         ${pattern === undefined ? empty : isFound}
       order by m.occurred_at desc, m.id desc, m.part desc
       limit ${limit}
     )
     select page.id, page.part, to_char(page.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, page.occurred_at, page.created_at,
       trim_scale(page.amount_usd) as amount_usd, trim_scale(page.message_amount_usd) as message_amount_usd,
       page.type as message_type, projects.slug as project_slug, projects.name as project_name, page.environment,
       page.feature, page.source, page.label, page.provider, page.model, page.unit_type,
       trim_scale(page.quantity) as quantity, page.line_count, page.cost_status, page.batch_id, page.category, page.details, page.lines,
       keys.id as key_id, keys.name as key_name, people.id as user_id, coalesce(people.display_name, people.email) as user_name
     from page
     join public.projects on projects.workspace_id = ${workspaceId} and projects.id = page.project_id
     left join public.api_keys as keys on keys.workspace_id = ${workspaceId} and keys.id = page.api_key_id
     left join public.profiles as people
       on people.id = coalesce(page.user_id, case when keys.kind = 'member' then keys.created_by end)
     order by page.occurred_at desc, page.id desc, page.part desc`,
  );
}

const foundDay = { day: nullable(text()) };

/** What is asked for by name: the last day that has any of it, in the totals of the days. */
export type NamedFilter = {
  dimension: "project" | "key" | "provider" | "model" | "feature";
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
    ({ dimension, value }) => sql`
      select max(day) as day from public.daily_totals
      where workspace_id = ${workspaceId} and environment = any (${environmentsOf(environment)})
        and dimension = ${dimension} ${condition(sql`value`, value)} ${condition(sql`type`, type)}
        and day >= ${from} and day < ${until}`,
  );
  const { day } = await selectOne(
    client,
    foundDay,
    sql`select case when bool_and(day is not null) then to_char(min(day), 'YYYY-MM-DD') end as day
      from (${join(lastDays, " union all ")}) as latest`,
  );
  return day;
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
  const ofProject = sql`
    and value = (select id::text from public.projects where workspace_id = ${workspaceId} and slug = ${project})`;
  const { day } = await selectOne(
    client,
    foundDay,
    sql`select to_char(max(day), 'YYYY-MM-DD') as day
      from (
        select day, sum(sum(message_count)) over (order by day desc) as passed
        from public.daily_totals
        where workspace_id = ${workspaceId} and environment = any (${environmentsOf(environment)})
          and dimension = 'project' and day >= ${from} and day < ${until} ${project === undefined ? empty : ofProject}
        group by day
      ) as days
      where passed >= ${messages}`,
  );
  return day;
}

const environmentsOf = (environment: ActivityFilters["environment"]) =>
  environment === undefined ? ["live", "test"] : [environment];
