import type { ClientBase } from "pg";
import type { Dimension } from "@/lib/contract/metrics";
import type { DayRange } from "@/lib/contract/month";
import { boolean, integer, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import { condition, type LedgerFilters, lineConditions, rowConditions } from "@/lib/spend/activity/filters";
import type { DayPoint } from "@/lib/spend/period";

const typeTotals = {
  type: text(),
  /** Whether the period itself has any. A type may occur in the preceding period only. */
  is_current: boolean(),
  amount: numeric(),
  messages: numeric(),
  unpriced: numeric(),
  /** In the preceding period: all of it (`before_`), and up to the point that corresponds to now. */
  before_amount: numeric(),
  before_messages: numeric(),
  before_unpriced: numeric(),
  before_to_point: numeric(),
};

/** The sums of one type of message. Amounts are USD as exact text. */
export type TypeTotals = Row<typeof typeTotals>;

const slice = {
  dimension: text<Dimension>(),
  value: nullable(text()),
  reference: nullable(text()),
  name: nullable(text()),
  amount: numeric(),
  messages: numeric(),
};

/**
 * The sum of one value of a dimension. `value` is the id of a project or key, or a name; `reference` is what filters use.
 */
export type Slice = Row<typeof slice>;

const bucketRow = { bucket: text(), place: nullable(integer()), amount: numeric() };

/** A bucket of a series. `place`: the index of the value in the requested ones; null for the sum of all others. */
export type BucketRow = Row<typeof bucketRow>;

/** The messages to sum. The caller's policies still limit what is visible. */
export type SpendScope = { workspaceId: string; filters: LedgerFilters };

/** The values of each dimension in a row `s` of the rollup, for `values`. */
const sliceOf = {
  project: sql`('project', s.project_id::text)`,
  key: sql`('key', s.api_key_id::text)`,
  provider: sql`('provider', s.provider)`,
  model: sql`('model', s.model)`,
  feature: sql`('feature', s.feature)`,
};
type NamedDimension = keyof typeof sliceOf;
const namedDimensions = Object.keys(sliceOf) as NamedDimension[];

/** The dimension to sum where only the whole matters: each dimension sums to it, and there are fewest providers. */
const fewest = "provider";

/**
 * Sums by day, type and value of some dimensions. If only the environment and type are filtered, it reads the daily totals,
 * which have one row per name; otherwise it reads the rollup.
 */
function spendBy(dimensions: NamedDimension[], { workspaceId, filters }: SpendScope): Sql {
  const { project, key, provider, model, feature, source } = filters;
  const isNarrow = [project, key, provider, model, feature, source].some((filter) => filter !== undefined);
  if (!isNarrow) {
    return sql`
      select dimension, value, day, type, amount_usd, message_count, unpriced_count
      from public.daily_totals
      where workspace_id = ${workspaceId} and environment = ${filters.environment}
        and dimension in (${join(dimensions)}) ${condition(sql`type`, filters.type)}`;
  }
  return sql`
    select slice.dimension, slice.value, s.day, s.type, s.amount_usd, s.message_count, s.unpriced_count
    from public.daily_spend as s
    cross join lateral (values ${join(dimensions.map((dimension) => sliceOf[dimension]))}) as slice (dimension, value)
    where s.workspace_id = ${workspaceId}
      ${rowConditions(sql`s`, workspaceId, filters)} ${lineConditions(sql`s`, filters)}`;
}

/** The totals of a period by type, with those of the preceding period. */
export function selectTypeTotals(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  before: DayRange,
  point: DayPoint,
): Promise<TypeTotals[]> {
  const isCurrent = sql`day >= ${range.from}`;
  const isBefore = sql`day < ${range.from}`;
  return selectAll(
    client,
    typeTotals,
    sql`select type, bool_or(${isCurrent}) as is_current,
       coalesce(sum(amount_usd) filter (where ${isCurrent}), 0) as amount,
       coalesce(sum(message_count) filter (where ${isCurrent}), 0) as messages,
       coalesce(sum(unpriced_count) filter (where ${isCurrent}), 0) as unpriced,
       coalesce(sum(amount_usd) filter (where ${isBefore}), 0) as before_amount,
       coalesce(sum(message_count) filter (where ${isBefore}), 0) as before_messages,
       coalesce(sum(unpriced_count) filter (where ${isBefore}), 0) as before_unpriced,
       coalesce(
         sum(case when day = ${point.day} then amount_usd * ${point.fraction}::numeric else amount_usd end)
           filter (where ${isBefore} and day <= ${point.day}), 0
       ) as before_to_point
     from (${spendBy([fewest], scope)}) as spend
     where day >= ${before.from} and day < ${range.until}
     group by type
     order by type`,
  );
}

/** The sums of each value of each dimension except the type, in a period, highest amount first. Each dimension sums to the total. */
export function selectSlices(client: ClientBase, scope: SpendScope, range: DayRange): Promise<Slice[]> {
  const { workspaceId } = scope;
  return selectAll(
    client,
    slice,
    sql`select slice.dimension, slice.value, slice.amount, slice.messages,
       coalesce(projects.slug, slice.value) as reference,
       coalesce(projects.name, keys.name, slice.value) as name
     from (
       select dimension, value, sum(amount_usd) as amount, sum(message_count) as messages
       from (${spendBy(namedDimensions, scope)}) as spend
       where day >= ${range.from} and day < ${range.until}
       group by dimension, value
     ) as slice
     left join public.projects
       on dimension = 'project' and projects.workspace_id = ${workspaceId} and projects.id::text = slice.value
     left join public.api_keys as keys
       on dimension = 'key' and keys.workspace_id = ${workspaceId} and keys.id::text = slice.value
     order by dimension, amount desc, slice.value collate "C"`,
  );
}

/** A period's sums by day or month, split by the given values of a dimension; not split if there are none. */
export function selectBuckets(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  bucket: "day" | "month",
  groupBy: Dimension,
  values: (string | null)[],
): Promise<BucketRow[]> {
  const dimension = groupBy === "type" || values.length === 0 ? fewest : groupBy;
  const column = groupBy === "type" ? sql`type` : sql`value`;
  return selectAll(
    client,
    bucketRow,
    // Formats the days after summing, because formatting every row would double the time.
    sql`select to_char(day, 'YYYY-MM-DD') as bucket, place, amount
     from (
       select date_trunc(${bucket}, day::timestamp) as day, array_position(${values}::text[], ${column}) - 1 as place,
         sum(amount_usd) as amount
       from (${spendBy([dimension], scope)}) as spend
       where day >= ${range.from} and day < ${range.until}
       group by 1, 2
     ) as buckets
     order by buckets.day, place`,
  );
}
