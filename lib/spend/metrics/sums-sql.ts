import type { DayRange } from "@/lib/contract/values/month";
import { join, type Sql, sql } from "@/lib/db/sql";
import { condition, providerKey, shownProvider } from "@/lib/spend/activity/filters";
import { rowsOfTotals } from "@/lib/spend/folded-days";
import {
  type ColumnDimension,
  columnDimensions,
  columnOf,
  fewest,
  type ListedDimension,
  type SpendScope,
  spendWithin,
  totalsWithin,
} from "./rows-sql";

/** The dimensions whose totals have a row for each name and one for spend without a name. */
const wholeDimensions = columnDimensions.filter((dimension) => dimension !== "user");

/** The name that rows of totals are summed by, and the spelling to show if it can differ (for providers). */
const key = sql`case dimension when 'provider' then ${providerKey(sql`value`)} else value end`;
const shown = sql`${shownProvider(sql`value`)} filter (where dimension = 'provider')`;

/** The sum of the allocations among rows. */
const allocated = sql`coalesce(sum(amount_usd) filter (where type = 'allocation'), 0)`;

/**
 * The sums of the daily totals by value, and for the `stacked` dimension also by bucket. Each row is read once, except those from
 * which the spend without a person is computed. The other dimensions are summed separately: grouping by bucket makes each row half
 * as expensive again, and without buckets folded months can be read.
 */
export function sumsOfTotals(
  scope: SpendScope,
  range: DayRange,
  stacked: ListedDimension,
  bucket: Sql,
  foldedUntil: string | null,
): Sql {
  const others = [...wholeDimensions, "tag" as const].filter((dimension) => dimension !== stacked);
  const none = sql`null::timestamp`;
  const ofStacked = sql`
    select ${stacked}, ${key}, ${bucket}, sum(amount_usd), sum(message_count), ${allocated}, ${shown}
    from ${totalsWithin([stacked], scope, range)}
    group by 2, 3`;
  return sql`
    select dimension, ${key} as value, ${none} as bucket, sum(amount_usd) as amount, sum(message_count) as messages,
      0 as allocated, ${shown} as shown
    from (${foldedTotals(others, scope, range, foldedUntil)}) as totals
    group by 1, 2
    union all
    ${stacked === "user" ? sumsOfUsers(scope, range, bucket) : join([ofStacked, sumsOfUsers(scope, range, none)], " union all ")}`;
}

/**
 * The dimension, value, amount and messages of the totals in a range, folded months included. In another currency each day has its
 * own rate, so nothing is read folded.
 */
function foldedTotals(
  dimensions: ListedDimension[],
  scope: SpendScope,
  range: DayRange,
  foldedUntil: string | null,
): Sql {
  const { workspaceId, filters } = scope;
  if (scope.display)
    return sql`select dimension, value, amount_usd, message_count from ${totalsWithin(dimensions, scope, range)}`;
  return rowsOfTotals(
    range,
    foldedUntil,
    ({ name, day }, { from, until }) => sql`
      select dimension, value, amount_usd, message_count from ${name}
      where workspace_id = ${workspaceId} and environment = ${filters.environment} and dimension in (${join(dimensions)})
        ${condition(sql`type`, filters.type)} and ${day} >= ${from} and ${day} < ${until}`,
  );
}

/** The sums by person. The totals have no rows for spend without a person: that is the whole less the spend of all persons. */
function sumsOfUsers(scope: SpendScope, range: DayRange, bucket: Sql): Sql {
  return sql`
    select 'user', part.value, ${bucket}, sum(part.amount), sum(part.messages),
      coalesce(sum(part.amount) filter (where type = 'allocation'), 0), null
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
export function sumsOfSpend(scope: SpendScope, range: DayRange, stacked: ListedDimension, bucket: Sql): Sql {
  const columns = [...columnDimensions.map((dimension) => columnOf[dimension]), sql`tags`];
  const others = columnDimensions.filter((dimension) => dimension !== stacked);
  const nameOf = (dimension: ColumnDimension) =>
    sql`when grouping(${columnOf[dimension]}) = 0 then ${columnOf[dimension]}::text`;
  const byTag = (ofBucket: Sql, cells: Sql) => sql`
    select 'tag', tag, ${ofBucket}, sum(amount), sum(messages), sum(allocated), null
    from cells cross join lateral unnest(tags) as tag
    where ${cells}
    group by 2, 3`;
  const ofStacked =
    stacked === "tag"
      ? byTag(sql`bucket`, sql`has_bucket`)
      : sql`
        select ${stacked}, ${columnOf[stacked]}::text, bucket, amount, messages, allocated, ${stacked === "provider" ? sql`spelling` : sql`null`}
        from cells where has_bucket
        union all
        ${byTag(sql`null::timestamp`, sql`not has_bucket`)}`;
  return sql`
    select * from (
      with cells as materialized (
        select grouping(bucket) = 0 as has_bucket, bucket, ${join(columns)},
          sum(amount_usd) as amount, sum(message_count) as messages, ${allocated} as allocated,
          ${shownProvider(sql`spelling`)} as spelling
        from (
          select ${bucket} as bucket, project_id, api_key_id, ${providerKey(columnOf.provider)} as provider, provider as spelling,
            model, feature, end_user, tags, type, amount_usd, message_count
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
        null::timestamp as bucket, sum(amount) as amount, sum(messages) as messages, 0 as allocated,
        ${stacked === "provider" ? sql`null` : sql`case when grouping(provider) = 0 then ${shownProvider(sql`spelling`)} end`} as shown
      from cells
      where not has_bucket
      group by grouping sets (${join(others.map((dimension) => sql`(${columnOf[dimension]})`))})
      union all
      ${ofStacked}
    ) as spend`;
}
