import type { ClientBase } from "pg";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { MessageSource, MessageType } from "@/lib/contract/ledger/message";
import type { ActivitySort } from "@/lib/contract/spend/activity";
import type { ActivityFilters } from "@/lib/contract/spend/activity-filters";
import {
  boolean,
  integer,
  json,
  nullable,
  numeric,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { selectAll, selectFirst } from "@/lib/db/query";
import { containing, empty, microsecondsText, type Sql, sql } from "@/lib/db/sql";
import { dayIn, isOnDays, type ZonedDays } from "@/lib/ledger/days";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { hasLines, isListed, postingsOf } from "@/lib/spend/listed-postings";
import { condition, isStanding, lineConditions, rowConditions, tierOf } from "./filters";

/**
 * A position in the order of activity, given by the row before it. `at` is exact to the microsecond, ISO 8601 in UTC. `value`
 * is the amount or quantity that rows are sorted by, exact text, unless they are sorted by time; null for no quantity.
 */
export type ActivityPlace = { at: string; id: string; part: number; value?: string | null };

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
  end_user: nullable(text()),
  session: nullable(text()),
  tags: nullable(texts()),
  emitter: nullable(text()),
  source: text<MessageSource>(),
  label: nullable(text()),
  provider: nullable(text()),
  model: nullable(text()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  has_lines: boolean(),
  line_count: integer(),
  cost_statuses: texts<CostStatus>(),
  list_price_usd: nullable(numeric()),
  batch_id: nullable(text()),
  category: nullable(text()),
  details: nullable(json<{ plan?: string; interval?: string; from_project?: string }>()),
  key_id: nullable(uuid()),
  key_name: nullable(text()),
  user_id: nullable(uuid()),
  user_name: nullable(text()),
  voids: nullable(uuid()),
  voided_by: nullable(uuid()),
  corrects: nullable(uuid()),
  corrected_by: nullable(uuid()),
  adjusts: nullable(timestamp()),
  undone_later: boolean(),
};

/**
 * A row of activity as stored; amounts are exact text. `at` is `occurred_at` to the microsecond. `undone_later`: whether it was voided
 * after its month was closed, so that its void is booked in a later one.
 */
export type StoredActivity = Omit<Row<typeof activityRow>, "cost_statuses"> & { cost_status: CostStatus };

/** The condition that a posting counts on a day of a range and did not occur before midnight UTC of `notBefore`. */
export function isWithin(column: Sql, range: ZonedDays, notBefore: string | undefined): Sql {
  const isAhead =
    notBefore === undefined ? empty : sql`and ${column} >= ${`${notBefore}T00:00:00Z`}::timestamptz`;
  return sql`${isOnDays(column, range)} ${isAhead}`;
}

/** The amount of a listed row, including all its lines. Indexes are on this exact expression. */
const entryAmount = sql`coalesce(m.lines_usd, m.amount_usd)`;

/** The sort keys of an order, and the condition for rows after a position. Rows of equal value are sorted by time. */
function orderOf(sort: ActivitySort): { keys: Sql; isAfter: (place: ActivityPlace) => Sql } {
  const isDescending = sort.startsWith("-");
  const direction = isDescending ? sql`desc` : sql`asc`;
  const follows = isDescending ? sql`<` : sql`>`;
  const place = ({ at, id, part }: ActivityPlace) => sql`${at}::timestamptz, ${id}::uuid, ${part}::smallint`;
  if (sort === "-time" || sort === "time") {
    return {
      keys: sql`m.occurred_at ${direction}, m.id ${direction}, m.part ${direction}`,
      // Postgres chooses partitions by the first condition.
      isAfter: (after) => sql`and m.occurred_at ${follows}= ${after.at}::timestamptz
        and (m.occurred_at, m.id, m.part) ${follows} (${place(after)})`,
    };
  }
  const last = isDescending ? sql`'-infinity'::numeric` : sql`'infinity'::numeric`;
  const key = sort.endsWith("amount")
    ? entryAmount
    : sql`coalesce(case when not ${hasLines} then m.quantity end, ${last})`;
  return {
    keys: sql`${key} ${direction}, m.occurred_at ${direction}, m.id ${direction}, m.part ${direction}`,
    isAfter: (after) => sql`and (${key}, m.occurred_at, m.id, m.part)
      ${follows} (coalesce(${after.value}::numeric, ${last}), ${place(after)})`,
  };
}

/** The conditions for listed rows in a range of days and amounts, after a position. */
function ahead(
  workspaceId: string,
  { min_amount: min, max_amount: max, adjusts }: ActivityFilters,
  within: Sql,
  timeZone: string,
  { sort, after }: PageOrder,
): Sql {
  return sql`m.workspace_id = ${workspaceId} and ${within} and ${isListed} ${after ? orderOf(sort).isAfter(after) : empty}
    ${min === undefined ? empty : sql`and ${entryAmount} >= ${min}::numeric`}
    ${max === undefined ? empty : sql`and ${entryAmount} <= ${max}::numeric`}
    ${adjusts === undefined ? empty : sql`and ${adjustsMonth(adjusts, timeZone)}`}`;
}

/** The condition that a row adjusts a closed month. @param month `any`, or `YYYY-MM` in the time zone */
function adjustsMonth(month: string, timeZone: string): Sql {
  if (month === "any") return sql`m.adjusts is not null`;
  const from = `${month}-01`;
  return isOnDays(sql`m.adjusts`, { from, until: addMonths(from, 1), timeZone });
}

/** The order of rows, and the position after which they are read. */
export type PageOrder = { sort: ActivitySort; after?: ActivityPlace | undefined };

/** The conditions on columns that can differ between the lines of one message. */
function postingConditions(posting: Sql, filters: ActivityFilters): Sql {
  return sql`${filters.tier === undefined ? empty : sql`and ${tierOf(posting)} = ${filters.tier}`}
    ${condition(sql`${posting}.cost_status`, filters.cost_status)}
    ${condition(sql`${posting}.session`, filters.session)} ${lineConditions(posting, filters)}`;
}

/**
 * Finds the position `rows` listed rows ahead, matching or not, in any order but that of quantities.
 * @returns undefined if fewer rows are left
 */
export async function selectPlaceAhead(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: ZonedDays,
  order: PageOrder,
  rows: number,
): Promise<ActivityPlace | undefined> {
  const isByAmount = order.sort.endsWith("amount");
  const found = await selectFirst(
    client,
    { at: text(), id: uuid(), part: integer(), value: numeric() },
    sql`select ${microsecondsText(sql`m.occurred_at`)} as at, m.id, m.part, trim_scale(${entryAmount}) as value
      from public.messages as m
      where ${ahead(workspaceId, filters, isWithin(sql`m.occurred_at`, range, undefined), range.timeZone, order)}
      order by ${orderOf(order.sort).keys}
      offset ${rows - 1} limit 1`,
  );
  if (!found) return undefined;
  const { value, ...place } = found;
  return isByAmount ? { ...place, value } : place;
}

/**
 * Reads at most `limit` matching rows in order. A row is one posting, or the sum of the matching lines of a message with lines.
 * @param order.notBefore the day at which to stop, even if fewer rows were found
 * @param order.among how many rows to read at most, even if fewer of them match
 */
export async function selectActivity(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  range: ZonedDays,
  order: PageOrder & { notBefore?: string | undefined; among?: number | undefined },
  limit: number,
): Promise<StoredActivity[]> {
  const { sort, notBefore, among } = order;
  const { keys } = orderOf(sort);
  const { cost_status: status, q } = filters;
  const within = (column: Sql) => isWithin(column, range, notBefore);
  const matches = sql`where true ${postingConditions(sql`posting`, filters)}`;
  const ofMessage = sql`line.workspace_id = ${workspaceId} and line.id = m.id and line.occurred_at = m.occurred_at
    and ${within(sql`line.occurred_at`)}`;
  const pattern = q === undefined ? undefined : containing(q);
  const isFound = sql`
    and (concat_ws(E'\\n', m.label, m.feature, m.model, m.provider, m.notes) ilike ${pattern}
      or ${hasLines} and exists (
        select from public.messages as line
        where ${ofMessage} and concat_ws(E'\\n', line.model, line.feature) ilike ${pattern}
        ${batchByBatch}
      ))`;
  const hasUnpriced = sql`
    and (not ${hasLines} or exists (
      select from public.messages as line where ${ofMessage} and line.cost_status = 'unpriced' ${batchByBatch}
    ))`;
  const rowsAhead = sql`${ahead(workspaceId, filters, within(sql`m.occurred_at`), range.timeZone, order)}`;
  // The limit of the inner select ends a search for rare rows. The outer one reads no further than it needs.
  const source =
    among === undefined
      ? sql`public.messages`
      : sql`(select m.* from public.messages as m where ${rowsAhead} order by ${keys} limit ${among})`;
  const { session } = filters;
  const ofSession = sql`and (m.id, m.occurred_at) in (
    select line.id, line.occurred_at from public.messages as line
    where line.workspace_id = ${workspaceId} and line.session = ${session} and (line.part = 0 or line.type = 'batch')
      and ${within(sql`line.occurred_at`)}
  )`;
  const rows = await selectAll(
    client,
    activityRow,
    sql`with page as (
       select row_number() over (order by ${keys}) as place, m.id, m.part, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.user_id, m.type, m.source,
         m.environment, m.provider, ${hasLines} as has_lines, m.unit_type, m.quantity, m.batch_id, m.category, m.details, m.label, m.tags, m.emitter,
         m.voids, m.voided_by, m.counted_at, m.adjusts, postings.*
       from ${source} as m
       cross join lateral (
         select sum(posting.amount_usd) as message_amount_usd,
           sum(posting.amount_usd) filter (${matches}) as amount_usd,
           count(*) filter (${matches})::int as line_count,
           array_agg(distinct posting.cost_status) filter (${matches}) as cost_statuses,
           case when count(distinct coalesce(posting.model, '')) filter (${matches}) = 1
             then min(posting.model) filter (${matches}) end as model,
           case when count(distinct coalesce(posting.feature, '')) filter (${matches}) = 1
             then min(posting.feature) filter (${matches}) end as feature,
           case when count(distinct coalesce(posting.end_user, '')) filter (${matches}) = 1
             then min(posting.end_user) filter (${matches}) end as end_user,
           case when count(distinct coalesce(posting.session, '')) filter (${matches}) = 1
             then min(posting.session) filter (${matches}) end as session,
           sum(posting.list_price_usd) filter (${matches}) as list_price_usd
         from (${postingsOf(workspaceId, within)}) as posting
       ) as postings
       where ${rowsAhead} ${rowConditions(sql`m`, workspaceId, filters)} ${condition(sql`m.emitter`, filters.emitter)}
         ${filters.standing === undefined ? empty : sql`and ${isStanding(sql`m`)}`}
         ${typeof session === "string" ? ofSession : empty}
         -- Asked of the row alone, so that most rows are passed over without a look at their postings.
         and (${hasLines} or (true ${postingConditions(sql`m`, filters)}))
         ${status === "unpriced" ? hasUnpriced : empty}
         ${pattern === undefined ? empty : isFound}
         and postings.line_count > 0
       order by ${keys}
       limit ${limit}
     )
     select page.id, page.part, ${microsecondsText(sql`page.occurred_at`)} as at, page.occurred_at, page.created_at,
       trim_scale(page.amount_usd) as amount_usd, trim_scale(page.message_amount_usd) as message_amount_usd,
       page.type as message_type, projects.slug as project_slug, projects.name as project_name, page.environment,
       page.feature, page.end_user, page.session, page.tags, page.emitter, trim_scale(page.list_price_usd) as list_price_usd, page.source, page.label, page.provider, page.model,
       page.has_lines, case when not page.has_lines then page.unit_type end as unit_type,
       case when not page.has_lines then trim_scale(page.quantity) end as quantity,
       page.line_count, page.cost_statuses, page.batch_id, page.category, page.details,
       keys.id as key_id, keys.name as key_name, people.id as user_id, coalesce(people.display_name, people.email) as user_name,
       page.voids, page.voided_by, corrected.message_id as corrects, voided.corrected_by, page.adjusts,
       page.voided_by is not null and exists (
         select from public.closed_months as closing
         where closing.workspace_id = ${workspaceId} and closing.reopened_at is null and closing.closed_at <= voided.created_at
           and closing.month = date_trunc('month', ${dayIn(range.timeZone, sql`page.occurred_at`)}::timestamp)::date
       ) as undone_later
     from page
     join public.projects on projects.workspace_id = ${workspaceId} and projects.id = page.project_id
     left join public.api_keys as keys on keys.workspace_id = ${workspaceId} and keys.id = page.api_key_id
     left join public.profiles as people
       on people.id = coalesce(page.user_id, case when keys.kind = 'member' then keys.created_by end)
     left join public.message_voids as voided
       on voided.workspace_id = ${workspaceId} and voided.message_id = page.id and page.voided_by is not null
     left join public.message_voids as corrected
       on corrected.workspace_id = ${workspaceId} and corrected.corrected_by = page.id and page.counted_at is not null
     order by page.place`,
  );
  return rows.map(({ cost_statuses, ...row }) => ({ ...row, cost_status: combineStatuses(cost_statuses) }));
}

/**
 * Makes Postgres look for a matching line batch by batch. Otherwise it would read every line of the period first, because it
 * cannot know that the list ends after a few rows.
 */
const batchByBatch = sql`offset 0`;

const lineRow = {
  id: uuid(),
  part: integer(),
  model: nullable(text()),
  feature: nullable(text()),
  end_user: nullable(text()),
  session: nullable(text()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  amount_usd: numeric(),
  cost_status: text<CostStatus>(),
  list_price_usd: nullable(numeric()),
};

/** A line of a message as stored; decimals are exact text. */
export type ActivityLine = Row<typeof lineRow>;

/** The matching lines of some rows, in order. Rows without lines have none. */
export async function selectLines(
  client: ClientBase,
  workspaceId: string,
  filters: ActivityFilters,
  rows: StoredActivity[],
): Promise<ActivityLine[]> {
  const wholes = rows.filter(({ has_lines }) => has_lines);
  const instants = wholes.map(({ at }) => at).sort();
  if (wholes.length === 0) return [];
  return selectAll(
    client,
    lineRow,
    sql`select line.id, line.part, line.model, line.feature, line.end_user, line.session, line.unit_type,
        trim_scale(line.quantity) as quantity, trim_scale(line.amount_usd) as amount_usd, line.cost_status,
        trim_scale(line.list_price_usd) as list_price_usd
      from unnest(${wholes.map(({ id }) => id)}::uuid[], ${wholes.map(({ at }) => at)}::timestamptz[])
        as whole (id, occurred_at)
      join public.messages as line on line.id = whole.id and line.occurred_at = whole.occurred_at
      where line.workspace_id = ${workspaceId}
        and line.occurred_at >= ${instants[0]}::timestamptz and line.occurred_at <= ${instants.at(-1)}::timestamptz
        ${postingConditions(sql`line`, filters)}
      order by line.id, line.part`,
  );
}
