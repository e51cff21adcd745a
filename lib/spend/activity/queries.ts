import type { ClientBase } from "pg";
import type { ActivityFilters, ActivityRow } from "@/lib/contract/activity";
import type { DayRange } from "@/lib/contract/month";
import { filterArgument, lineConditions, rowConditions } from "./filters";
import type { StoredLine } from "./message-queries";

/** A place in the order of activity: the row it stands behind. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type ActivityPlace = { at: string; id: string; part: number };

/** A row of activity as read; amounts are exact text. `at` is `occurred_at` to the microsecond. */
export type StoredActivity = Omit<
  ActivityRow,
  "amount_usd" | "message_amount_usd" | "quantity" | "label" | "created_at" | "occurred_at" | "key" | "user"
> & {
  amount_usd: string;
  message_amount_usd: string;
  quantity: string | null;
  label: string | null;
  created_at: Date;
  occurred_at: Date;
  at: string;
  batch_id: string | null;
  category: string | null;
  details: { plan?: string; interval?: string; from_project?: string } | null;
  /** The lines of a batch that match, where they were asked for. */
  lines: StoredLine[] | null;
  key_id: string | null;
  key_name: string | null;
  user_id: string | null;
  user_name: string | null;
};

/** How a row is written to the microsecond; a Date has milliseconds. */
const exactInstant = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Rows in the order of activity, behind a place. The first condition is what partitions are chosen by. */
const inRange = `
  m.workspace_id = $1 and m.occurred_at >= $3::timestamptz and m.occurred_at < $4::timestamptz
  and m.occurred_at <= coalesce($5::timestamptz, 'infinity')
  and ($5::timestamptz is null or (m.occurred_at, m.id, m.part) < ($5, $6::uuid, $7::smallint))
  ${rowConditions("m", "$2::jsonb")}`;
const inOrder = "order by m.occurred_at desc, m.id desc, m.part desc";

function inRangeValues(
  workspaceId: string,
  filters: ActivityFilters,
  { from, until }: DayRange,
  behind: ActivityPlace | undefined,
): unknown[] {
  const instant = (day: string) => (day.endsWith("infinity") ? day : `${day}T00:00:00Z`);
  const place = [behind?.at ?? null, behind?.id ?? null, behind?.part ?? null];
  return [workspaceId, filterArgument(filters), instant(from), instant(until), ...place];
}

/**
 * The postings that match, latest first, at most `limit`. Of a batch, the lines that match are summed.
 * @param options.withLines whether to return those lines too
 * @param options.notBefore a day before which not to look, however few were found
 */
export async function selectActivity(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: DayRange,
  behind: ActivityPlace | undefined,
  limit: number,
  { withLines = false, notBefore }: { withLines?: boolean; notBefore?: string | undefined } = {},
): Promise<StoredActivity[]> {
  const { rows } = await client.query<StoredActivity>(
    `with page as (
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
           -- Decimals as text: JSON's numbers would lose digits on their way into JavaScript.
           case when $11 then jsonb_agg(jsonb_build_object(
             'model', line.model, 'feature', line.feature, 'unit_type', line.unit_type, 'quantity', line.quantity,
             'amount_usd', line.amount_usd::text, 'cost_status', line.cost_status
           )) end as lines
         from jsonb_to_recordset(m.items) as line (
           model text, feature text, unit_type text, quantity text, amount_usd numeric, cost_status text
         )
         where ($8::text is null or line.cost_status = $8) ${lineConditions("line", "$2::jsonb")}
       ) as lines on m.items is not null
       where ${inRange} and m.occurred_at >= coalesce($12::date::timestamp at time zone 'UTC', '-infinity')
         and ($8::text is distinct from 'unpriced' or m.cost_status = 'unpriced')
         -- Asked of the row alone, so that most rows are passed over without a look at their lines.
         and (m.items is not null or ($8::text is null or m.cost_status = $8) ${lineConditions("m", "$2::jsonb")})
         and (m.items is null or lines.line_count > 0)
         and ($9::text is null or concat_ws(E'\\n', m.label, m.feature, m.model, m.provider, m.notes) ilike $9
           or exists (
             select from jsonb_to_recordset(m.items) as line (model text, feature text)
             where concat_ws(E'\\n', line.model, line.feature) ilike $9
           ))
       ${inOrder}
       limit $10
     )
     select page.id, page.part, ${exactInstant("page.occurred_at")} as at, page.occurred_at, page.created_at,
       trim_scale(page.amount_usd) as amount_usd, trim_scale(page.message_amount_usd) as message_amount_usd,
       page.type as message_type, projects.slug as project_slug, projects.name as project_name, page.environment,
       page.feature, page.source, page.label, page.provider, page.model, page.unit_type,
       trim_scale(page.quantity) as quantity, page.line_count, page.cost_status, page.batch_id, page.category, page.details, page.lines,
       keys.id as key_id, keys.name as key_name, people.id as user_id, coalesce(people.display_name, people.email) as user_name
     from page
     join public.projects on projects.workspace_id = $1 and projects.id = page.project_id
     left join public.api_keys as keys on keys.workspace_id = $1 and keys.id = page.api_key_id
     left join public.profiles as people
       on people.id = coalesce(page.user_id, case when keys.kind = 'member' then keys.created_by end)
     order by page.occurred_at desc, page.id desc, page.part desc`,
    [
      ...inRangeValues(workspaceId, filters, range, behind),
      filters.cost_status ?? null,
      filters.q === undefined ? null : `%${filters.q.replace(/[\\%_]/g, "\\$&")}%`,
      limit,
      withLines,
      notBefore ?? null,
    ],
  );
  return rows;
}

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
  const { rows } = await client.query<{ day: string | null }>(
    `select case when bool_and(day is not null) then to_char(min(day), 'YYYY-MM-DD') end as day
     from (
       select (
         select max(day) from public.daily_totals
         where workspace_id = $1 and environment = any ($2) and dimension = wanted ->> 'dimension'
           and (not wanted ? 'value' or value is not distinct from wanted ->> 'value')
           and ($3::text is null or type = $3) and day >= $4 and day < $5
       ) as day
       from jsonb_array_elements($6::jsonb) as wanted
     ) as latest`,
    [workspaceId, environmentsOf(environment), type ?? null, from, until, JSON.stringify(names)],
  );
  return rows[0]?.day ?? null;
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
  const { rows } = await client.query<{ day: string | null }>(
    `select to_char(max(day), 'YYYY-MM-DD') as day
     from (
       select day, sum(sum(message_count)) over (order by day desc) as passed
       from public.daily_totals
       where workspace_id = $1 and environment = any ($2) and dimension = 'project' and day >= $3 and day < $4
         and ($5::text is null or value = (
           select id::text from public.projects where workspace_id = $1 and slug = $5
         ))
       group by day
     ) as days
     where passed >= $6`,
    [workspaceId, environmentsOf(environment), from, until, project ?? null, messages],
  );
  return rows[0]?.day ?? null;
}

const environmentsOf = (environment: ActivityFilters["environment"]) =>
  environment === undefined ? ["live", "test"] : [environment];
