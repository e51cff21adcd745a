import type { DayRange } from "@/lib/contract/values/month";
import { join, type Sql, sql } from "@/lib/db/sql";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { condition, type LedgerFilters, lineConditions, rowConditions } from "@/lib/spend/activity/filters";
import { convertedAt } from "@/lib/spend/conversion";

/**
 * The messages to sum. The caller's policies still limit what is visible. With `display`, amounts are in its currency instead of
 * USD, each day converted at its rate.
 */
export type SpendScope = { workspaceId: string; filters: LedgerFilters; display?: Display };

/** The column of each dimension in the rollup, except tags, of which a row can have several. */
export const columnOf = {
  project: sql`project_id`,
  key: sql`api_key_id`,
  provider: sql`provider`,
  model: sql`model`,
  feature: sql`feature`,
  user: sql`end_user`,
};
export type ColumnDimension = keyof typeof columnOf;
export type ListedDimension = ColumnDimension | "tag";
export const columnDimensions = Object.keys(columnOf) as ColumnDimension[];

/** The dimension to sum if only the whole is wanted: each dimension sums to it, and providers have the fewest rows. */
export const fewest = "provider";

/** Whether filters go beyond the environment and type, so that the sums come from the rollup and not from the daily totals. */
export function isNarrow({
  project,
  key,
  provider,
  model,
  feature,
  user,
  tag,
  source,
}: LedgerFilters): boolean {
  return [project, key, provider, model, feature, user, tag, source].some((filter) => filter !== undefined);
}

/** The condition that a row's day is in one of some ranges. */
export function dayWithin(ranges: DayRange[]): Sql {
  return join(
    ranges.map(({ from, until }) => sql`(day >= ${from} and day < ${until})`),
    " or ",
  );
}

/** The rows of the daily totals of some dimensions, in ranges of days. They have one row per name. */
export function totalsWithin(
  dimensions: ListedDimension[],
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
export function spendWithin({ workspaceId, filters, display }: SpendScope, ...ranges: DayRange[]): Sql {
  const spend = display
    ? sql`(select workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags,
        ${amountsIn(display)}, message_count, unpriced_count from public.daily_spend)`
    : sql`public.daily_spend`;
  return sql`${spend} as s
    where workspace_id = ${workspaceId} ${rowConditions(sql`s`, workspaceId, filters)} ${lineConditions(sql`s`, filters)}
      and (${dayWithin(ranges)})`;
}

/**
 * The adjustments of closed months that are booked on the days of a range, with columns of the rollup. No message is read if the
 * workspace never closed a month.
 */
export function adjustmentsWithin({ workspaceId, filters, display }: SpendScope, range: DayRange): Sql {
  const amount = display ? convertedAt(display, sql`amount_usd`, sql`day`) : sql`amount_usd`;
  const bound = (day: string, margin: Sql) => sql`(${day}::timestamp ${margin}) at time zone 'UTC'`;
  return sql`(
      select workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags,
        ${amount} as amount_usd
      from public.daily_adjustments
      where occurred_at >= ${bound(range.from, sql`- interval '1 day'`)}
        and occurred_at < ${bound(range.until, sql`+ interval '1 day'`)}
    ) as s
    where workspace_id = ${workspaceId} ${rowConditions(sql`s`, workspaceId, filters)} ${lineConditions(sql`s`, filters)}
      and (${dayWithin([range])}) and exists (select from public.closed_months where workspace_id = ${workspaceId})`;
}
