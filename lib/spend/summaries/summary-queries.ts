import type { ClientBase } from "pg";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { rowOrders } from "@/lib/contract/spend/reads";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf, exactMs, toInstant } from "@/lib/contract/values/instant";
import { json, nullable, numeric, type Row, text, texts, timestamp, uuid } from "@/lib/db/columns";
import { selectAll, selectFirst } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import type { KeyClaims } from "@/lib/db/transaction";
import { dayIn, firstDayFrom, isBetween, startOf } from "@/lib/ledger/days";
import { combineStatuses } from "@/lib/ledger/pricing/cost-status";
import { countOf, hasLines, isListed, postingsOf } from "@/lib/spend/listed-postings";

/**
 * What messages of one type cost in a project in a month: the project's slug and name, the type, USD as exact text, the
 * number of messages, how many of them are unpriced, and what included usage would have cost, USD as exact text.
 */
export type MonthTotal = [
  slug: string,
  name: string,
  type: string,
  total: string,
  messages: number,
  unpriced: number,
  included: string,
];

/**
 * Reads the totals of the current month for several keys, in the order of `callers`; row-level security limits each to what it may
 * see. The statement sets the claims itself; see `asKeysAtOnce`.
 */
export async function selectMonthTotals(client: ClientBase, callers: KeyClaims[]): Promise<MonthTotal[][]> {
  const texts = JSON.stringify(callers.map((claims) => JSON.stringify(claims)));
  const rows = await selectAll(
    client,
    { totals: json<MonthTotal[]>() },
    sql`select totals from private.month_totals(${texts}) order by place`,
  );
  return rows.map(({ totals }) => totals);
}

/** A workspace's project by its slug; undefined if the caller may not see it. */
export function selectProject(
  client: ClientBase,
  workspaceId: string,
  slug: string,
): Promise<{ workspace_id: string; id: string; slug: string; name: string } | undefined> {
  return selectFirst(
    client,
    { workspace_id: uuid(), id: uuid(), slug: text(), name: text() },
    sql`select workspace_id, id, slug, name from public.projects
      where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
}

const spendSlice = {
  dimension: text<"type" | "model" | "feature" | "day">(),
  value: nullable(text()),
  amount_usd: numeric(),
  /** Null in the slices by model and by feature. */
  message_count: nullable(numeric()),
  unpriced_count: nullable(numeric()),
};

/** What a project spent on one type, model or feature, or in one day of its workspace; USD as exact text. */
export type SpendSlice = Row<typeof spendSlice>;

const dayMs = 86_400_000;

/**
 * What a project spent between two instants, by type, by model, by feature and by day, each in the order of its values.
 * Whole days of the time zone are read from the daily sums. If the range begins or ends within a day, that day's messages are read.
 * Everything is read in one statement, so the figures of a range agree: the totals and the rollup are written together.
 * @param isOfUsers whether the caller may read only what was recorded for some users
 */
export function selectSpendSlices(
  client: ClientBase,
  project: { workspace_id: string; id: string },
  from: string,
  to: string,
  timeZone: string,
  isOfUsers = false,
): Promise<SpendSlice[]> {
  // The totals have no rows for a project and a person together.
  const totals = isOfUsers
    ? sql`public.daily_spend where workspace_id = ${project.workspace_id} and project_id = ${project.id}`
    : sql`public.daily_totals
            where workspace_id = ${project.workspace_id} and dimension = 'project' and value = ${project.id}`;
  const first = firstDayFrom(timeZone, exactMs(from));
  const until = [first, dayOf(clockOf(timeZone, exactMs(to)).now)].sort()[1] ?? first;
  const [firstWhole, afterWhole] = [startOf(timeZone, first), startOf(timeZone, until)];
  const cuts = [
    { from, to: firstWhole < exactMs(to) ? toInstant(firstWhole) : to },
    { from: toInstant(afterWhole), to },
  ].filter((cut) => exactMs(cut.from) < exactMs(cut.to));
  const cutLines = [noLines, ...cuts.map((cut) => linesWithin(project, cut, timeZone, isOfUsers))];
  return selectAll(
    client,
    spendSlice,
    sql`with cut as materialized (${join(cutLines, " union all ")}),
      -- The rows of the range are read once, for models and features.
      pairs as materialized (
        select model, feature, amount_usd
        from private.project_pairs(
          ${project.workspace_id}, ${project.id}, ${first}::date, ${until}::date
        )
        union all
        select model, feature, amount_usd from cut
      )
      select dimension, value, amount_usd, message_count, unpriced_count
      from (
        select case when grouping(type) = 0 then 'type' else 'day' end as dimension,
          case when grouping(type) = 0 then type else to_char(day, 'YYYY-MM-DD') end as value,
          sum(amount_usd) as amount_usd, sum(message_count) as message_count, sum(unpriced_count) as unpriced_count
        from (
          select day, type, amount_usd, message_count, unpriced_count
          from ${totals}
            and ${listOrRange(Date.parse(first), Date.parse(until))}
          union all
          select day, type, amount_usd, message_count, unpriced_count from cut
        ) as spend
        group by grouping sets ((type), (day))
        union all
        select case when grouping(model) = 0 then 'model' else 'feature' end,
          case when grouping(model) = 0 then model else feature end, sum(amount_usd), null, null
        from pairs
        group by grouping sets ((model), (feature))
      ) as slices
      order by dimension, value`,
  );
}

/** The most days to list one by one. For listed days an index finds the one value; for a range it reads all values. */
const maxNamedDays = 366;

/** The condition that `day` is in a range of whole days. */
function listOrRange(from: number, until: number): Sql {
  const count = (until - from) / dayMs;
  if (count > maxNamedDays) return sql`day >= ${dayOf(from)} and day < ${dayOf(until)}`;
  return sql`day = any (${Array.from({ length: count }, (_, index) => dayOf(from + index * dayMs))}::date[])`;
}

/** A query with the columns of `linesWithin` and no rows. */
const noLines = sql`select null::date as day, '' as type, '' as model, '' as feature, 0::numeric as amount_usd,
  0::bigint as message_count, 0::bigint as unpriced_count where false`;

/**
 * The postings of a project in a part of a day. Usually they are found by the first line of their message. A key for certain users
 * may see other lines without the first one, so it reads all lines directly.
 */
function linesWithin(
  project: { workspace_id: string; id: string },
  { from, to }: { from: string; to: string },
  timeZone: string,
  isOfUsers: boolean,
): Sql {
  const within = (column: Sql) => isBetween(timeZone, column, from, to);
  const lines = isOfUsers
    ? empty
    : sql`cross join lateral (${postingsOf(project.workspace_id, within)}) as posting`;
  const posting = isOfUsers ? sql`m` : sql`posting`;
  const count = countOf(sql`m`);
  return sql`
    select ${dayIn(timeZone, sql`m.occurred_at`)} as day, m.type, ${posting}.model, ${posting}.feature, ${posting}.amount_usd,
      (case when ${posting}.part = 0 then ${count} else 0 end)::bigint,
      (case when ${posting}.cost_status = 'unpriced' then ${count} else 0 end)::bigint
    from public.messages as m ${lines}
    where m.workspace_id = ${project.workspace_id} and m.project_id = ${project.id}
      ${isOfUsers ? empty : sql`and ${isListed}`} and ${within(sql`m.occurred_at`)}`;
}

const latestRow = {
  id: uuid(),
  occurred_at: timestamp(),
  created_at: timestamp(),
  type: text(),
  amount_usd: numeric(),
  cost_statuses: texts<CostStatus>(),
  provider: nullable(text()),
  model: nullable(text()),
  feature: nullable(text()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  source: text(),
  label: nullable(text()),
};

/** The order of a project's rows. */
export type RowOrder = (typeof rowOrders)[number];

/** The first rows of a project in a range, at most `limit`. A message with lines is one row, without the fields of its lines. */
export async function selectFirstRows(
  client: ClientBase,
  project: { workspace_id: string; id: string },
  from: string,
  to: string,
  {
    sort,
    timeZone,
    isOfUsers,
    limit,
  }: { sort: RowOrder; timeZone: string; isOfUsers: boolean; limit: number },
) {
  // A key for certain users may read only some lines of a message. The order must not reveal what the other lines cost.
  const amount = isOfUsers ? sql`postings.amount_usd` : sql`coalesce(m.lines_usd, m.amount_usd)`;
  const within = (column: Sql) => isBetween(timeZone, column, from, to);
  const unlessLines = (value: Sql) => sql`case when not ${hasLines} then ${value} end`;
  const unlessBatch = (value: Sql) => sql`case when m.type <> 'batch' then ${value} end`;
  const rows = await selectAll(
    client,
    latestRow,
    sql`select m.id, m.occurred_at, m.created_at, m.type, trim_scale(postings.amount_usd) as amount_usd,
        postings.cost_statuses, m.provider, ${unlessBatch(sql`m.model`)} as model,
        ${unlessBatch(sql`m.feature`)} as feature, ${unlessLines(sql`m.unit_type`)} as unit_type,
        ${unlessLines(sql`trim_scale(m.quantity)`)} as quantity, m.source, m.label
      from public.messages as m
      cross join lateral (
        select sum(posting.amount_usd) as amount_usd, array_agg(distinct posting.cost_status) as cost_statuses
        from (${postingsOf(project.workspace_id, within)}) as posting
      ) as postings
      where m.workspace_id = ${project.workspace_id} and m.project_id = ${project.id} and ${isListed}
        and ${within(sql`m.occurred_at`)}
      order by ${sort === "-amount" ? sql`${amount} desc,` : empty} m.occurred_at desc, m.id desc
      limit ${limit}`,
  );
  return rows.map(({ id, cost_statuses, ...row }) => ({
    id,
    cost_status: combineStatuses(cost_statuses),
    ...row,
  }));
}
