import type { ClientBase } from "pg";
import type { Dimension } from "@/lib/contract/metrics";
import type { DayRange } from "@/lib/contract/month";
import { boolean, integer, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { condition, type LedgerFilters, lineConditions, rowConditions } from "@/lib/spend/activity/filters";
import { convertedAt } from "@/lib/spend/conversion";
import { divideAtFolds, rowsOfFolds, selectFoldedUntil, startOfWeekInMonth } from "@/lib/spend/folded-days";
import type { DayPoint } from "@/lib/spend/period";

const typeTotals = {
  /** Null in the sums of a bucket. */
  type: nullable(text()),
  /** The first day of a bucket, `YYYY-MM-DD`; null in the sums of a type over all of it. */
  bucket: nullable(text()),
  /** Whether the period itself has any up to today. A type may occur in the days compared with only. */
  is_current: boolean(),
  amount: numeric(),
  messages: numeric(),
  unpriced: numeric(),
  included: numeric(),
  /** On the days after today. */
  ahead_amount: numeric(),
  /** The last day after today that has any, `YYYY-MM-DD`. */
  ahead_until: nullable(text()),
  /** The compared days: in full (`before_`), and up to the point that corresponds to now. */
  before_amount: numeric(),
  before_messages: numeric(),
  before_unpriced: numeric(),
  before_included: numeric(),
  before_to_point: numeric(),
};

/** The sums of one type of message, of one bucket, or of both. Amounts are USD as exact text. */
export type TypeTotals = Row<typeof typeTotals>;

const slice = {
  dimension: text<Dimension>(),
  /** What filters use: a slug, the id of a key, or a name. */
  reference: nullable(text()),
  name: nullable(text()),
  amount: numeric(),
  messages: numeric(),
};
const valueRow = { ...slice, value: nullable(text()) };

/** Parts of a bucket's amount. Allocations are netted by value: what one received in a bucket less what was taken from it. */
const bucketParts = {
  /** What was allocated to values, and from them (below zero). */
  allocated_in: numeric(),
  allocated_out: numeric(),
  /** What values spent without allocations, of those that come to less than zero so. */
  below_zero: numeric(),
};
const breakdownRow = { ...valueRow, bucket: nullable(text()), place: nullable(integer()), ...bucketParts };

/** The sum of one value of a dimension. Amounts are USD as exact text. */
export type Slice = Row<typeof slice>;

/** A slice with the value as it is stored. */
export type ValueSlice = Row<typeof valueRow>;

/**
 * A bucket of a series. `place`: the index of the value among the largest; null for the sum of all others. Amounts are USD as
 * exact text.
 */
export type BucketRow = {
  bucket: string;
  place: number | null;
  amount: string;
} & Row<typeof bucketParts>;

/** A series to read: the length of its buckets, the dimension to stack by, and the most groups of a stack. */
export type SeriesScope = { bucket: "day" | "month"; groupBy: Dimension; maxGroups: number };

/**
 * The messages to sum. The caller's policies still limit what is visible. With `display`, amounts are in its currency, each
 * day converted at its rate, in place of USD.
 */
export type SpendScope = { workspaceId: string; filters: LedgerFilters; display?: Display };

/** The columns of each dimension in the rollup but for tags, of which a row has several. */
const columnOf = {
  project: sql`project_id`,
  key: sql`api_key_id`,
  provider: sql`provider`,
  model: sql`model`,
  feature: sql`feature`,
  user: sql`end_user`,
};
type ColumnDimension = keyof typeof columnOf;
type NamedDimension = ColumnDimension | "tag";
const columnDimensions = Object.keys(columnOf) as ColumnDimension[];

/** The dimensions whose totals have a row for each name and one for spend without a name. */
const wholeDimensions = columnDimensions.filter((dimension) => dimension !== "user");

/** The dimension to sum where only the whole matters: each dimension sums to it, and there are fewest providers. */
const fewest = "provider";

/** Whether more than the environment and type are filtered: then only the rollup has the sums, otherwise the daily totals. */
function isNarrow({ project, key, provider, model, feature, user, tag, source }: LedgerFilters): boolean {
  return [project, key, provider, model, feature, user, tag, source].some((filter) => filter !== undefined);
}

/** That a row's day is in one of some ranges. */
function dayWithin(ranges: DayRange[]): Sql {
  return join(
    ranges.map(({ from, until }) => sql`(day >= ${from} and day < ${until})`),
    " or ",
  );
}

/** The rows of the daily totals of some dimensions, in ranges of days. They have one row per name. */
function totalsWithin(
  dimensions: NamedDimension[],
  { workspaceId, filters, display }: SpendScope,
  ...ranges: DayRange[]
): Sql {
  const totals = display
    ? sql`(select workspace_id, environment, dimension, day, value, type, ${amountsIn(display)}, message_count, unpriced_count
        from public.daily_totals) as converted_totals`
    : sql`public.daily_totals`;
  return sql`${totals}
    where workspace_id = ${workspaceId} and environment = ${filters.environment} and dimension in (${join(dimensions)})
      ${condition(sql`type`, filters.type)} and (${dayWithin(ranges)})`;
}

/** The amounts of a row of sums in a currency, under the names of those in USD. */
const amountsIn = (
  display: Display,
): Sql => sql`${convertedAt(display, sql`amount_usd`, sql`day`)} as amount_usd,
  ${convertedAt(display, sql`included_usd`, sql`day`)} as included_usd`;

/** The rows of the rollup in ranges of days. */
function spendWithin({ workspaceId, filters, display }: SpendScope, ...ranges: DayRange[]): Sql {
  const spend = display
    ? sql`(select workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags,
        ${amountsIn(display)}, message_count, unpriced_count from public.daily_spend)`
    : sql`public.daily_spend`;
  return sql`${spend} as s
    where workspace_id = ${workspaceId} ${rowConditions(sql`s`, workspaceId, filters)} ${lineConditions(sql`s`, filters)}
      and (${dayWithin(ranges)})`;
}

/** The days of a period that are read. `spent` is the part up to today; `before` are the days compared with, up to today. */
export type ReadDays = {
  range: DayRange;
  spent: DayRange;
  before: DayRange | undefined;
  /** The point of `before` that corresponds to now. */
  point: DayPoint | undefined;
};

/** No day. */
const nothing: DayRange = { from: "infinity", until: "infinity" };

/**
 * The totals of a period by type, up to today and after it, with those of the days compared with, and the same by bucket where buckets are asked for; by
 * type and bucket where a series is stacked by type.
 */
export function selectTypeTotals(
  client: ClientBase,
  scope: SpendScope,
  { range, spent, before = nothing, point }: ReadDays,
  series?: Pick<SeriesScope, "bucket" | "groupBy">,
): Promise<TypeTotals[]> {
  const isCurrent = dayWithin([spent]);
  const isAhead = sql`day >= ${range.from} and day >= ${spent.until} and day < ${range.until}`;
  const isBefore = dayWithin([before]);
  const { day, fraction } = point ?? { day: "-infinity", fraction: "0" };
  // Days that adjoin are read as one range.
  const adjoins = before.until === range.from;
  const days = adjoins
    ? [{ from: before.from, until: range.until }]
    : [range, ...(before === nothing ? [] : [before])];
  const rows = isNarrow(scope.filters) ? spendWithin(scope, ...days) : totalsWithin([fewest], scope, ...days);
  const sets = [
    sql`(type)`,
    ...(series ? [sql`(bucket)`] : []),
    ...(series?.groupBy === "type" ? [sql`(type, bucket)`] : []),
  ];
  return selectAll(
    client,
    typeTotals,
    // Sums each day first: what follows is done for each day and type, not for each row.
    sql`select type, ${series ? sql`to_char(days.bucket, 'YYYY-MM-DD')` : sql`null`} as bucket, coalesce(bool_or(${isCurrent}), false) as is_current,
       coalesce(sum(amount_usd) filter (where ${isCurrent}), 0) as amount,
       coalesce(sum(message_count) filter (where ${isCurrent}), 0) as messages,
       coalesce(sum(unpriced_count) filter (where ${isCurrent}), 0) as unpriced,
       coalesce(sum(included_usd) filter (where ${isCurrent}), 0) as included,
       coalesce(sum(amount_usd) filter (where ${isAhead}), 0) as ahead_amount,
       to_char(max(day) filter (where ${isAhead}), 'YYYY-MM-DD') as ahead_until,
       coalesce(sum(amount_usd) filter (where ${isBefore}), 0) as before_amount,
       coalesce(sum(message_count) filter (where ${isBefore}), 0) as before_messages,
       coalesce(sum(unpriced_count) filter (where ${isBefore}), 0) as before_unpriced,
       coalesce(sum(included_usd) filter (where ${isBefore}), 0) as before_included,
       coalesce(
         sum(case when day = ${day} then amount_usd * ${fraction}::numeric else amount_usd end)
           filter (where ${isBefore} and day <= ${day}), 0
       ) as before_to_point
     from (
       select type, day, date_trunc(${series?.bucket ?? "month"}, day::timestamp) as bucket, sum(amount_usd) as amount_usd,
         sum(message_count) as message_count, sum(unpriced_count) as unpriced_count,
         sum(included_usd) as included_usd
       from ${rows}
       group by type, day
     ) as days
     group by grouping sets (${join(sets)})
     order by bucket nulls first, type`,
  );
}

/**
 * The sums of each value of each dimension except the type, in a period, the largest first whatever their sign; each dimension sums
 * to the total. And a series: the sums by bucket of the largest values of its dimension, and of all others; none by type.
 * A value of the series is as large as its amount or what it spent without allocations, whichever is more.
 * @param known the largest values of the series, where they are known; they are answered otherwise
 */
export async function selectBreakdown(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  { bucket, groupBy, maxGroups }: SeriesScope,
  known?: (string | null)[],
): Promise<{ slices: ValueSlice[]; buckets: BucketRow[]; largest: (string | null)[] }> {
  const { workspaceId, filters } = scope;
  const stacked = groupBy === "type" ? fewest : groupBy;
  const buckets = sql`date_trunc(${bucket}, day::timestamp)`;
  const sums = isNarrow(filters)
    ? sumsOfSpend(scope, range, stacked, buckets)
    : sumsOfTotals(scope, range, stacked, buckets, await selectFoldedUntil(client, workspaceId));
  const found = sql`
    select coalesce(array_agg(value order by place), '{}') as values
    from slices
    where dimension = ${stacked} and place <= case when names > ${maxGroups} then ${maxGroups} - 1 else names end`;
  const rows = await selectAll(
    client,
    breakdownRow,
    sql`with sums as materialized (${sums}),
     slices as materialized (
       select dimension, value, sum(amount) as amount, sum(messages) as messages,
         row_number() over (
           partition by dimension
           order by greatest(abs(sum(amount)), abs(sum(amount - allocated))) desc, value collate "C"
         ) as place,
         count(*) over (partition by dimension) as names
       from sums
       group by dimension, value
     ),
     largest as materialized (${known ? sql`select ${known}::text[] as values` : found})
     select dimension, coalesce(projects.slug, value) as reference, coalesce(projects.name, keys.name, value) as name,
       amount, messages, value, null as bucket, place::integer, 0 as allocated_in, 0 as allocated_out, 0 as below_zero
     from slices
     left join public.projects
       on dimension = 'project' and projects.workspace_id = ${workspaceId} and projects.id::text = value
     left join public.api_keys as keys
       on dimension = 'key' and keys.workspace_id = ${workspaceId} and keys.id::text = value
     union all
     select ${stacked}, null, null, amount, 0, null, to_char(bucket, 'YYYY-MM-DD'), place, allocated_in, allocated_out, below_zero
     from (
       select bucket, array_position((select values from largest), value) - 1 as place, sum(amount) as amount,
         sum(greatest(allocated, 0)) as allocated_in, sum(least(allocated, 0)) as allocated_out,
         sum(least(amount - allocated, 0)) as below_zero
       from sums
       where dimension = ${stacked} and ${groupBy} <> 'type'
       group by 1, 2
     ) as buckets
     order by bucket nulls first, dimension, place`,
  );
  const slices = rows.filter((row) => row.bucket === null);
  const values = slices.filter(({ dimension }) => dimension === stacked).map(({ value }) => value);
  return {
    slices,
    largest: values.slice(0, values.length > maxGroups ? maxGroups - 1 : values.length),
    buckets: rows.flatMap(({ bucket, place, amount, allocated_in, allocated_out, below_zero }) =>
      bucket === null ? [] : [{ bucket, place, amount, allocated_in, allocated_out, below_zero }],
    ),
  };
}

/** What allocations moved, of rows of sums. */
const allocated = sql`coalesce(sum(amount_usd) filter (where type = 'allocation'), 0)`;

/**
 * The sums of the daily totals by value, those of the `stacked` dimension by bucket, too. Each row is read once, but for those
 * from which the spend of nobody is taken. The other dimensions are summed apart, because a bucket among what is grouped
 * costs half as much again for each row; past days of theirs are read by week.
 */
function sumsOfTotals(
  scope: SpendScope,
  range: DayRange,
  stacked: NamedDimension,
  bucket: Sql,
  foldedUntil: string | null,
): Sql {
  const others = [...wholeDimensions, "tag" as const].filter((dimension) => dimension !== stacked);
  const none = sql`null::timestamp`;
  const ofStacked = sql`
    select ${stacked}, value, ${bucket}, sum(amount_usd), sum(message_count), ${allocated}
    from ${totalsWithin([stacked], scope, range)}
    group by 2, 3`;
  return sql`
    select dimension, value, ${none} as bucket, sum(amount_usd) as amount, sum(message_count) as messages,
      0 as allocated
    from (${foldedTotals(others, scope, range, foldedUntil)}) as totals
    group by dimension, value
    union all
    ${stacked === "user" ? sumsOfUsers(scope, range, bucket) : join([ofStacked, sumsOfUsers(scope, range, none)], " union all ")}`;
}

/**
 * The dimension, value, amount and messages of totals in a range that is divided at what is folded. In another currency each day
 * has its own rate: nothing is read folded.
 */
function foldedTotals(
  dimensions: NamedDimension[],
  scope: SpendScope,
  range: DayRange,
  foldedUntil: string | null,
): Sql {
  const { workspaceId, filters } = scope;
  if (scope.display)
    return sql`select dimension, value, amount_usd, message_count from ${totalsWithin(dimensions, scope, range)}`;
  const folds = divideAtFolds(range, foldedUntil, startOfWeekInMonth);
  const rows = (table: Sql, day: Sql, { from, until }: DayRange) => sql`
    select dimension, value, amount_usd, message_count from ${table}
    where workspace_id = ${workspaceId} and environment = ${filters.environment} and dimension in (${join(dimensions)})
      ${condition(sql`type`, filters.type)} and ${day} >= ${from} and ${day} < ${until}`;
  return rowsOfFolds(
    folds,
    (days) => rows(sql`public.daily_totals`, sql`day`, days),
    (weeks) => rows(sql`public.weekly_totals`, sql`first_day`, weeks),
  );
}

/** The sums by person. The totals have no rows for spend without a person: that is the whole less the spend of all persons. */
function sumsOfUsers(scope: SpendScope, range: DayRange, bucket: Sql): Sql {
  return sql`
    select 'user', part.value, ${bucket}, sum(part.amount), sum(part.messages),
      coalesce(sum(part.amount) filter (where type = 'allocation'), 0)
    from (select * from ${totalsWithin(["user", fewest], scope, range)}) as totals
    cross join lateral (
      select totals.value, amount_usd as amount, message_count as messages where dimension = 'user'
      union all
      select null, case dimension when 'user' then -amount_usd else amount_usd end,
        case dimension when 'user' then -message_count else message_count end
    ) as part
    group by 2, 3
    having part.value is not null or sum(part.amount) <> 0 or sum(part.messages) <> 0`;
}

/**
 * The sums by dimension, from the rollup of daily spend. Reads its rows once and groups them by all columns together; the sums of
 * each dimension are made from these groups, which are fewer than the rows.
 */
function sumsOfSpend(scope: SpendScope, range: DayRange, stacked: NamedDimension, bucket: Sql): Sql {
  const columns = [...columnDimensions.map((dimension) => columnOf[dimension]), sql`tags`];
  const others = columnDimensions.filter((dimension) => dimension !== stacked);
  const nameOf = (dimension: ColumnDimension) =>
    sql`when grouping(${columnOf[dimension]}) = 0 then ${columnOf[dimension]}::text`;
  const byTag = (shown: Sql, cells: Sql) => sql`
    select 'tag', tag, ${shown}, sum(amount), sum(messages), sum(allocated)
    from cells cross join lateral unnest(tags) as tag
    where ${cells}
    group by 2, 3`;
  const ofStacked =
    stacked === "tag"
      ? byTag(sql`bucket`, sql`has_bucket`)
      : sql`
        select ${stacked}, ${columnOf[stacked]}::text, bucket, amount, messages, allocated from cells where has_bucket
        union all
        ${byTag(sql`null::timestamp`, sql`not has_bucket`)}`;
  return sql`
    select * from (
      with cells as materialized (
        select grouping(bucket) = 0 as has_bucket, bucket, ${join(columns)},
          sum(amount_usd) as amount, sum(message_count) as messages, ${allocated} as allocated
        from (
          select ${bucket} as bucket, ${join(columns)}, type, amount_usd, message_count
          from ${spendWithin(scope, range)}
        ) as rows
        group by grouping sets ((${join(columns)}), (bucket, ${stacked === "tag" ? sql`tags` : columnOf[stacked]}))
      )
      select
        case ${join(
          others.map((dimension) => sql`when grouping(${columnOf[dimension]}) = 0 then ${dimension}`),
          " ",
        )} end as dimension,
        case ${join(others.map(nameOf), " ")} end as value,
        null::timestamp as bucket, sum(amount) as amount, sum(messages) as messages, 0 as allocated
      from cells
      where not has_bucket
      group by grouping sets (${join(others.map((dimension) => sql`(${columnOf[dimension]})`))})
      union all
      ${ofStacked}
    ) as spend`;
}

const allocatedInBucket = { bucket: text(), allocated_in: numeric(), allocated_out: numeric() };

/** What was allocated to projects in each bucket, and from them, netted by project. Amounts are USD as exact text. */
export function selectAllocations(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  bucket: SeriesScope["bucket"],
): Promise<Row<typeof allocatedInBucket>[]> {
  const isOfSpend = isNarrow(scope.filters);
  const rows = isOfSpend ? spendWithin(scope, range) : totalsWithin(["project"], scope, range);
  return selectAll(
    client,
    allocatedInBucket,
    sql`select to_char(bucket, 'YYYY-MM-DD') as bucket, sum(greatest(amount, 0)) as allocated_in,
        sum(least(amount, 0)) as allocated_out
      from (
        select date_trunc(${bucket}, day::timestamp) as bucket, sum(amount_usd) as amount
        from ${rows} and type = 'allocation'
        group by 1, ${isOfSpend ? sql`project_id` : sql`value`}
      ) as projects
      group by bucket order by bucket`,
  );
}

const usageOfDay = { day: text(), amount: numeric() };

/** What usage and batches cost on each of some days, USD as exact text; the other types are not extrapolated. */
export function selectUsage(
  client: ClientBase,
  scope: SpendScope,
  days: DayRange,
): Promise<Row<typeof usageOfDay>[]> {
  const rows = isNarrow(scope.filters) ? spendWithin(scope, days) : totalsWithin([fewest], scope, days);
  return selectAll(
    client,
    usageOfDay,
    sql`select to_char(day, 'YYYY-MM-DD') as day, sum(amount_usd) as amount from ${rows} and type in ('usage', 'batch')
      group by day order by day`,
  );
}
