import type { ClientBase } from "pg";
import type { Dimension } from "@/lib/contract/metrics";
import type { DayRange } from "@/lib/contract/month";
import {
  filterArgument,
  type LedgerFilters,
  lineConditions,
  rowConditions,
} from "@/lib/spend/activity/filters";
import type { DayPoint } from "@/lib/spend/period";

/** The sums of one type of message. Amounts are USD as exact text. */
export type TypeTotals = {
  type: string;
  /** Whether there is any in the period itself; a type may be of the period before alone. */
  is_current: boolean;
  amount: string;
  messages: string;
  unpriced: string;
  /** Of the period before: all of it, and up to the point that corresponds to now. */
  before_amount: string;
  before_messages: string;
  before_unpriced: string;
  before_to_point: string;
};

/** What one value of a dimension came to. `value` is the id of a project or key; `reference` is what one filters by. */
export type Slice = {
  dimension: Dimension;
  value: string | null;
  reference: string | null;
  name: string | null;
  amount: string;
  messages: string;
};

/** A bucket of a series: what the value at `place` of those asked for came to; null for all others. */
export type BucketRow = { bucket: string; place: number | null; amount: string };

/** Which sums are asked for. The caller's policies still decide how much of them it may see. */
export type SpendScope = { workspaceId: string; filters: LedgerFilters };

/** Where the rollup has the values of a dimension. */
const columnOf = {
  project: "project_id::text",
  key: "api_key_id::text",
  provider: "provider",
  model: "model",
  feature: "feature",
};
type NamedDimension = keyof typeof columnOf;
const namedDimensions = Object.keys(columnOf) as NamedDimension[];

/** What is summed where names do not matter: every dimension sums to the whole, and there are fewest providers. */
const fewest = "provider";

/**
 * Sums a day, type and value of some dimensions, as the text of a query. What is filtered by the environment and type
 * alone is read from the totals, whose rows are as many as there are names; the rest from the rollup itself.
 */
function spendBy(dimensions: NamedDimension[], { filters }: SpendScope): string {
  const { project, key, provider, model, feature, source } = filters;
  const isNarrow = [project, key, provider, model, feature, source].some((filter) => filter !== undefined);
  const filter = "$2::jsonb";
  if (!isNarrow) {
    return `
      select dimension, value, day, type, amount_usd, message_count, unpriced_count
      from public.daily_totals
      where workspace_id = $1 and environment = ${filter} ->> 'environment'
        and dimension in (${dimensions.map((dimension) => `'${dimension}'`).join(", ")})
        and (not ${filter} ? 'type' or type = ${filter} ->> 'type')`;
  }
  const slices = dimensions.map((dimension) => `('${dimension}', s.${columnOf[dimension]})`);
  return `
    select slice.dimension, slice.value, s.day, s.type, s.amount_usd, s.message_count, s.unpriced_count
    from public.daily_spend as s
    cross join lateral (values ${slices.join(", ")}) as slice (dimension, value)
    where s.workspace_id = $1 ${rowConditions("s", filter)} ${lineConditions("s", filter)}`;
}

const scopeValues = ({ workspaceId, filters }: SpendScope) => [workspaceId, filterArgument(filters)];

/** The totals of a period by type, with those of the period before beside them. */
export async function selectTypeTotals(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  before: DayRange,
  point: DayPoint,
): Promise<TypeTotals[]> {
  const { rows } = await client.query<TypeTotals>(
    `select type, bool_or(day >= $3) as is_current,
       coalesce(sum(amount_usd) filter (where day >= $3), 0) as amount,
       coalesce(sum(message_count) filter (where day >= $3), 0) as messages,
       coalesce(sum(unpriced_count) filter (where day >= $3), 0) as unpriced,
       coalesce(sum(amount_usd) filter (where day < $3), 0) as before_amount,
       coalesce(sum(message_count) filter (where day < $3), 0) as before_messages,
       coalesce(sum(unpriced_count) filter (where day < $3), 0) as before_unpriced,
       coalesce(
         sum(case when day = $6 then amount_usd * $7::numeric else amount_usd end) filter (where day < $3 and day <= $6), 0
       ) as before_to_point
     from (${spendBy([fewest], scope)}) as spend
     where day >= $5 and day < $4
     group by type
     order by type`,
    [...scopeValues(scope), range.from, range.until, before.from, point.day, point.fraction],
  );
  return rows;
}

/** What each value of each dimension but the type came to in a period, the dearest first. Each dimension sums to the total. */
export async function selectSlices(client: ClientBase, scope: SpendScope, range: DayRange): Promise<Slice[]> {
  const { rows } = await client.query<Slice>(
    `select slice.*, coalesce(projects.slug, slice.value) as reference,
       coalesce(projects.name, keys.name, slice.value) as name
     from (
       select dimension, value, sum(amount_usd) as amount, sum(message_count) as messages
       from (${spendBy(namedDimensions, scope)}) as spend
       where day >= $3 and day < $4
       group by dimension, value
     ) as slice
     left join public.projects
       on dimension = 'project' and projects.workspace_id = $1 and projects.id::text = slice.value
     left join public.api_keys as keys
       on dimension = 'key' and keys.workspace_id = $1 and keys.id::text = slice.value
     order by dimension, amount desc, slice.value collate "C"`,
    [...scopeValues(scope), range.from, range.until],
  );
  return rows;
}

/** A period in buckets of days or months, cut up by the values of a dimension that are asked for; of none, whole. */
export async function selectBuckets(
  client: ClientBase,
  scope: SpendScope,
  range: DayRange,
  bucket: "day" | "month",
  groupBy: Dimension,
  values: (string | null)[],
): Promise<BucketRow[]> {
  const dimension = groupBy === "type" || values.length === 0 ? fewest : groupBy;
  const column = groupBy === "type" ? "type" : "value";
  const { rows } = await client.query<BucketRow>(
    // Written out after they are summed: a text for every row costs as much as all the rest.
    `select to_char(day, 'YYYY-MM-DD') as bucket, place, amount
     from (
       select date_trunc($5, day::timestamp) as day, array_position($6::text[], ${column}) - 1 as place,
         sum(amount_usd) as amount
       from (${spendBy([dimension], scope)}) as spend
       where day >= $3 and day < $4
       group by 1, 2
     ) as buckets
     order by buckets.day, place`,
    [...scopeValues(scope), range.from, range.until, bucket, values],
  );
  return rows;
}
