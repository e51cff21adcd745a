import type { ClientBase } from "pg";
import type { Dimension } from "@/lib/contract/spend/metrics";
import type { DayRange } from "@/lib/contract/values/month";
import { boolean, integer, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll, selectOne } from "@/lib/db/query";
import { join, sql } from "@/lib/db/sql";
import { lineConditions, rowConditions, shownProvider } from "@/lib/spend/activity/filters";
import { convertedAt } from "@/lib/spend/conversion";
import { type CutDayOf, rowsOfCutDay } from "@/lib/spend/cut-day";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import type { Compared } from "@/lib/spend/period";
import {
  adjustmentsWithin,
  dayWithin,
  fewest,
  isNarrow,
  type SpendScope,
  spendWithin,
  totalsWithin,
} from "./rows-sql";
import { sumsOfSpend, sumsOfTotals } from "./sums-sql";

const typeTotals = {
  /** Null in the sums of a bucket. */
  type: nullable(text()),
  /** The first day of a bucket, `YYYY-MM-DD`; null in the sums of a type over all of it. */
  bucket: nullable(text()),
  /** Whether the period has any up to today. Some types occur only in the days compared with. */
  is_current: boolean(),
  amount: numeric(),
  messages: numeric(),
  unpriced: numeric(),
  included: numeric(),
  /** The amount on the days after today. */
  ahead_amount: numeric(),
  /** The last day after today with an amount, `YYYY-MM-DD`. */
  ahead_until: nullable(text()),
  /** Amounts of the days compared with: all of them (`before_`), the whole days of the stretch, and those that a chart draws. */
  before_amount: numeric(),
  before_messages: numeric(),
  before_unpriced: numeric(),
  before_included: numeric(),
  before_stretch: numeric(),
  before_aligned: numeric(),
};

/** The sums of one type of message, of one bucket, or of both. Amounts are USD as exact text. */
export type TypeTotals = Row<typeof typeTotals>;

const slice = {
  dimension: text<Dimension>(),
  /** The value that filters take: a slug, the id of a key, or a name. */
  reference: nullable(text()),
  name: nullable(text()),
  amount: numeric(),
  messages: numeric(),
};
const valueRow = { ...slice, value: nullable(text()) };

/** Parts of a bucket's amount. Allocations are netted by value: what it received in a bucket less what was taken from it. */
const bucketParts = {
  /** Sums of allocations to values, and from values (negative). */
  allocated_in: numeric(),
  allocated_out: numeric(),
  /** The sum of the values whose own spend, without allocations, is negative. */
  below_zero: numeric(),
};
const breakdownRow = { ...valueRow, bucket: nullable(text()), place: nullable(integer()), ...bucketParts };

/** The sum of one value of a dimension. Amounts are USD as exact text. */
export type Slice = Row<typeof slice>;

/** A slice with the value that it is summed by. */
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

/** The days of a period that are read. `spent`: those up to today. */
export type ReadDays = {
  range: DayRange;
  spent: DayRange;
  before: (Compared & { spent: DayRange }) | undefined;
};

/** No day. */
const nothing: DayRange = { from: "infinity", until: "infinity" };

/**
 * The totals of a period by type, up to today and after it, and those of the days compared with. With `series`, also the totals by
 * bucket, or by type and bucket if the series is stacked by type.
 */
export function selectTypeTotals(
  client: ClientBase,
  scope: SpendScope,
  { range, spent, before }: ReadDays,
  series?: Pick<SeriesScope, "bucket" | "groupBy">,
): Promise<TypeTotals[]> {
  const isCurrent = dayWithin([spent]);
  const isAhead = sql`day >= ${range.from} and day >= ${spent.until} and day < ${range.until}`;
  const isBefore = dayWithin([before?.spent ?? nothing]);
  const isStretch = dayWithin([before?.stretch.days ?? nothing]);
  const isAligned = dayWithin([before?.aligned ?? nothing]);
  const days = joinRanges([range, ...(before ? [before.spent, before.aligned] : [])]);
  const rows = isNarrow(scope.filters) ? spendWithin(scope, ...days) : totalsWithin([fewest], scope, ...days);
  const sets = [
    sql`(type)`,
    ...(series ? [sql`(bucket)`] : []),
    ...(series?.groupBy === "type" ? [sql`(type, bucket)`] : []),
  ];
  return selectAll(
    client,
    typeTotals,
    // Sums each day first, so that the outer query handles a row for each day and type instead of all rows.
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
       coalesce(sum(amount_usd) filter (where ${isStretch}), 0) as before_stretch,
       coalesce(sum(amount_usd) filter (where ${isAligned}), 0) as before_aligned
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

/** Merges ranges that adjoin or overlap, so that no day is read twice. */
function joinRanges(ranges: DayRange[]): DayRange[] {
  const joined: DayRange[] = [];
  for (const { from, until } of ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = joined.at(-1);
    if (!last || from > last.until) joined.push({ from, until });
    else if (until > last.until) last.until = until;
  }
  return joined;
}

/** What was spent on a cut day before its instant, USD as exact text. */
export async function selectCutDay(
  client: ClientBase,
  { workspaceId, filters, display }: SpendScope,
  cut: CutDayOf,
): Promise<string> {
  const amount = display ? convertedAt(display, sql`amount_usd`, sql`day`) : sql`amount_usd`;
  const { spent } = await selectOne(
    client,
    { spent: numeric() },
    sql`select coalesce(sum(${amount}), 0) as spent from (${rowsOfCutDay(cut)}) as s
      where true ${rowConditions(sql`s`, workspaceId, filters)} ${lineConditions(sql`s`, filters)}`,
  );
  return spent;
}

/**
 * Reads the sums of a period by each value of each dimension except the type, the largest first regardless of sign; each dimension
 * sums to the total. Also reads a series: the sums by bucket of the largest values of its dimension and of all others; none by type.
 * Values are ranked by their amount or by their spend without allocations, whichever is larger.
 * @param known the largest values of the series, if the caller knows them
 * @returns `largest`: the largest values of the series
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
       select dimension, value, ${shownProvider(sql`shown`)} as shown, sum(amount) as amount, sum(messages) as messages,
         row_number() over (
           partition by dimension
           order by greatest(abs(sum(amount)), abs(sum(amount - allocated))) desc, value collate "C"
         ) as place,
         count(*) over (partition by dimension) as names
       from sums
       group by dimension, value
     ),
     largest as materialized (${known ? sql`select ${known}::text[] as values` : found})
     select dimension, coalesce(projects.slug, shown, value) as reference, coalesce(projects.name, keys.name, shown, value) as name,
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

const allocatedInBucket = { bucket: text(), allocated_in: numeric(), allocated_out: numeric() };

/** The sums of allocations to projects, and from projects, in each bucket, netted by project. Amounts are USD as exact text. */
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

/**
 * What usage and batches cost on each of some days, USD as exact text, for forecasts, which extrapolate no other type. Adjustments of
 * closed months are left out: they are booked on one of these days but belong to earlier usage.
 */
export function selectUsage(
  client: ClientBase,
  scope: SpendScope,
  days: DayRange,
): Promise<Row<typeof usageOfDay>[]> {
  const rows = isNarrow(scope.filters) ? spendWithin(scope, days) : totalsWithin([fewest], scope, days);
  return selectAll(
    client,
    usageOfDay,
    sql`select to_char(day, 'YYYY-MM-DD') as day, sum(amount_usd) as amount
      from (
        select day, amount_usd from ${rows} and type in ('usage', 'batch')
        union all
        select day, -amount_usd from ${adjustmentsWithin(scope, days)} and type in ('usage', 'batch')
      ) as usage
      group by day order by day`,
  );
}
