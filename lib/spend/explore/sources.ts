import type {
  NamedDimension,
  SpendDimension,
  SpendFilter,
  SpendQuery,
} from "@/lib/contract/spend/spend-query";
import { isCalendar, tagNameOf } from "@/lib/contract/spend/spend-query";
import type { DayRange } from "@/lib/contract/values/month";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import { dayIn, isOnDays } from "@/lib/ledger/days";
import { providerKey } from "@/lib/spend/activity/filters";
import { type CutDayOf, rowsOfCutDay } from "@/lib/spend/cut-day";
import { divideAtFolds, rowsOfFolds, rowsOfTotals } from "@/lib/spend/folded-days";
import { countOf, isListed, postingsOf } from "@/lib/spend/listed-postings";

/** The part of the ledger to read. `isKey`: for an API key, which cannot read totals of spend that it may read only in part. */
export type ExploreScope = {
  workspaceId: string;
  environment: SpendQuery["environment"];
  filters: SpendFilter[];
  range: DayRange;
  /** The time zone of the range's days. */
  timeZone: string;
  /** The last day of the range, if only a part of it counts. */
  cut: CutDayOf | undefined;
  /** The day before which sums are folded; null if none are. */
  foldedUntil: string | null;
  isKey: boolean;
  /**
   * Whether the key may read only certain users. Such a key may see a line of a batch without the first line, so its postings are
   * not found by the index of listed rows, which has first lines only.
   */
  isOfUsers: boolean;
};

/**
 * What a query reads. The totals have a row for each name of one dimension, by day, or by month for folded days. The sums have one
 * for each combination of names. Only the ledger has units and quantities.
 */
export type SourceKind = "totals" | "sums" | "ledger";

/**
 * A source: its rows `s`, each with a day, a cost and a number of messages, and the columns of dimensions. Rows of the ledger also
 * have tokens and their cost.
 */
export type SumTable = {
  rows: Sql;
  column: (dimension: SpendDimension) => Sql;
  /** The name as it was sent, for a column that has another form of it (the provider). */
  spelling: (dimension: SpendDimension) => Sql | undefined;
};

/** The dimensions that the daily totals have rows for, besides tags. */
const totalled: readonly string[] = ["project", "key", "provider", "model", "feature", "user"];

/** The dimension with the fewest names, whose totals are read for queries that use no dimension. */
const fewest = "provider";

/** The dimensions and fields that a query uses, except the type and the environment, which every source has. */
function namesOf(groupBy: SpendDimension[], filters: SpendFilter[]): string[] {
  const named = [...groupBy.filter((each) => !isCalendar(each)), ...filters.map(({ field }) => field)];
  return [...new Set(named)].filter((each) => each !== "type" && each !== "environment");
}

/** Chooses the source with the fewest rows that can answer a query. @param needsTokens whether it needs units and quantities */
export function chooseSource(
  groupBy: SpendDimension[],
  { filters, isKey }: Pick<ExploreScope, "filters" | "isKey">,
  needsTokens: boolean,
): SourceKind {
  const names = namesOf(groupBy, filters);
  if (needsTokens || names.includes("unit")) return "ledger";
  if (isKey) return "sums";
  return names.every((name) => totalled.includes(name) || tagNameOf(name) !== undefined) && names.length < 2
    ? "totals"
    : "sums";
}

/** The rows of a source for a query. */
export function sourceOf(kind: SourceKind, groupBy: SpendDimension[], scope: ExploreScope): SumTable {
  if (kind === "ledger") return ledgerSource(scope);
  if (kind === "sums") return sumsSource(groupBy, scope);
  return totalsSource(namesOf(groupBy, scope.filters)[0] ?? fewest, groupBy, scope);
}

/** The environments that a query reads. */
export const environmentsOf = (environment: SpendQuery["environment"]): ("live" | "test")[] =>
  environment === "all" ? ["live", "test"] : [environment];

/** The columns that the rows of the daily sums and of the ledger both have. */
const columns: Record<Exclude<NamedDimension, "unit">, Sql> = {
  project: sql`s.project_id`,
  user: sql`s.end_user`,
  key: sql`s.api_key_id`,
  model: sql`s.model`,
  provider: providerKey(sql`s.provider`),
  feature: sql`s.feature`,
  type: sql`s.type`,
  source: sql`s.source`,
};

/** The column of a dimension in rows `s`. A week or month is its first day. */
function columnIn(dimension: SpendDimension): Sql {
  if (dimension === "day") return sql`s.day`;
  // The first day of our calendar is a Monday. `date_trunc` takes several times as long.
  if (dimension === "week") return sql`s.day - (s.day - date '0001-01-01') % 7`;
  if (dimension === "month") return sql`date_trunc('month', s.day::timestamp)::date`;
  if (dimension === "environment") return sql`s.environment`;
  if (dimension === "unit") return sql`s.unit_type`;
  const tag = tagNameOf(dimension);
  return tag === undefined ? columns[dimension as keyof typeof columns] : tagValueIn(tag);
}

const spellingIn = (provider: Sql) => (dimension: SpendDimension) =>
  dimension === "provider" ? provider : undefined;

/** The value of a tag in rows `s`; a message has one at most. */
const tagValueIn = (name: string): Sql =>
  sql`(select substr(tag, ${name.length + 2}::integer) from unnest(s.tags) as tag where starts_with(tag, ${`${name}:`}))`;

/** Whether a query needs the sums of single days, which folded months do not have. */
const isByDays = (groupBy: SpendDimension[]): boolean => groupBy.includes("day") || groupBy.includes("week");

function sumsSource(groupBy: SpendDimension[], scope: ExploreScope): SumTable {
  const rows = sql`
    select s.*, s.amount_usd as cost, s.message_count as messages
    from (${sumsWithin(scope, isByDays(groupBy))}) as s
    where true ${conditions(scope.workspaceId, scope.filters)}`;
  return { rows, column: columnIn, spelling: spellingIn(sql`s.provider`) };
}

/** The days of a range that count as a whole. */
const wholeDaysOf = ({ range, cut }: ExploreScope): DayRange =>
  cut ? { from: range.from, until: cut.day } : range;

/** The sums of a range: by month for folded days, unless single days are needed, otherwise by day. */
function sumsWithin(scope: ExploreScope, isOfDays: boolean): Sql {
  const { workspaceId, environment, cut, foldedUntil } = scope;
  const select = (table: Sql, day: Sql) => (days: DayRange) =>
    sql`
    select ${day} as day, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags, amount_usd,
      message_count, item_count
    from ${table}
    where workspace_id = ${workspaceId} and environment = any(${environmentsOf(environment)}::text[])
      and ${day} >= ${days.from} and ${day} < ${days.until}`;
  const sums = rowsOfFolds(
    divideAtFolds(wholeDaysOf(scope), isOfDays ? null : foldedUntil),
    select(sql`public.daily_spend`, sql`day`),
    select(sql`public.monthly_spend`, sql`month`),
  );
  return cut ? sql`${sums} union all ${rowsOfCutDay(cut)}` : sums;
}

function ledgerSource({
  workspaceId,
  environment,
  filters,
  range,
  timeZone,
  cut,
  isOfUsers,
}: ExploreScope): SumTable {
  const within = (at: Sql) => isOnDays(at, { ...range, timeZone }, cut?.at);
  const isTokens = sql`s.unit_type like '%tokens'`;
  const listed = sql`cross join lateral (${postingsOf(workspaceId, within)}) as p`;
  const p = isOfUsers ? sql`m` : sql`p`;
  const rows = sql`
    select s.*, s.amount_usd as cost, case when s.part = 0 then ${countOf(sql`s`)} else 0 end as messages,
      case when ${isTokens} then s.quantity end as tokens, case when ${isTokens} then s.amount_usd end as token_cost
    from (
      select m.project_id, m.api_key_id, m.type, m.source, m.environment, m.provider, m.tags, m.voids,
        ${dayIn(timeZone, sql`m.occurred_at`)} as day, ${p}.part, ${p}.model, ${p}.feature, ${p}.end_user,
        ${p}.unit_type, ${p}.quantity, ${p}.amount_usd
      from public.messages as m ${isOfUsers ? empty : listed}
      where m.workspace_id = ${workspaceId} and ${within(sql`m.occurred_at`)}
        and m.environment = any(${environmentsOf(environment)}::text[]) ${isOfUsers ? empty : sql`and ${isListed}`}
    ) as s
    where true ${conditions(workspaceId, filters)}`;
  return { rows, column: columnIn, spelling: spellingIn(sql`s.provider`) };
}

/** The most lines of the ledger that a query can read, counted from the sums, which do not have units. */
export function linesWithin(scope: ExploreScope): Sql {
  const filters = scope.filters.filter(({ field }) => field !== "unit");
  return sql`select coalesce(sum(s.item_count), 0) as lines
    from (${sumsWithin(scope, false)}) as s
    where true ${conditions(scope.workspaceId, filters)}`;
}

/** The rows of a cut day in the form of totals by one dimension. @param tag the name of the tag if the dimension is a tag */
function ofCutDay(cut: CutDayOf, dimension: string, tag: string | undefined): Sql {
  const named = dimension === "provider" ? sql`s.provider` : columns[dimension as keyof typeof columns];
  return sql`
    select s.day, s.environment, s.type, ${tag === undefined ? sql`${named}::text` : tagValueIn(tag)}, s.amount_usd, s.message_count
    from (${rowsOfCutDay(cut)}) as s`;
}

function totalsSource(dimension: string, groupBy: SpendDimension[], scope: ExploreScope): SumTable {
  const { workspaceId, environment, filters, cut, foldedUntil } = scope;
  const tag = tagNameOf(dimension);
  const isPartial = dimension === "user" || tag !== undefined;
  const ofName =
    tag === undefined
      ? sql`dimension = ${dimension}`
      : sql`dimension = 'tag' and starts_with(value, ${`${tag}:`})`;
  const totals = rowsOfTotals(
    wholeDaysOf(scope),
    isByDays(groupBy) ? null : foldedUntil,
    ({ name, day }, { from, until }) => sql`
      select ${day} as day, environment, dimension = ${fewest} as is_whole, type, value, amount_usd, message_count from ${name}
      where workspace_id = ${workspaceId} and environment = any(${environmentsOf(environment)}::text[])
        and ${isPartial ? sql`(dimension = ${fewest} or (${ofName}))` : ofName} and ${day} >= ${from} and ${day} < ${until}`,
  );
  const whole = sql`
    select t.day, t.environment, t.type, t.value, t.amount_usd as cost, t.message_count as messages
    from (${totals}) as t`;
  // The totals have no rows for spend without a person or a tag: it is the whole less the spend of all names.
  const partial = sql`
    select t.day, t.environment, t.type, part.value, part.cost, part.messages
    from (${totals}) as t
    cross join lateral (
      select ${tag === undefined ? sql`t.value` : sql`substr(t.value, ${tag.length + 2}::integer)`} as value, t.amount_usd as cost,
        t.message_count as messages
      where not t.is_whole
      union all
      select null, case when t.is_whole then t.amount_usd else -t.amount_usd end,
        case when t.is_whole then t.message_count else -t.message_count end
    ) as part`;
  const value = dimension === "provider" ? providerKey(sql`s.value`) : sql`s.value`;
  const column = (name: SpendDimension) => (name === dimension ? value : columnIn(name));
  const rows = sql`
    select s.*
    from (${isPartial ? partial : whole} ${cut ? sql`union all ${ofCutDay(cut, dimension, tag)}` : empty}) as s
    where true ${all(
      filters.map((filter) => {
        if (filter.field === "type") return filterBy(columns.type, filter, listOf(filter));
        return filter.field === "project"
          ? filterBy(value, filter, sql`${projectIds(workspaceId, filter)}::text[]`)
          : filterBy(value, filter, listOf(filter));
      }),
    )}`;
  return { rows, column, spelling: spellingIn(sql`s.value`) };
}

/** The conditions of filters on rows `s`. */
function conditions(workspaceId: string, filters: SpendFilter[]): Sql {
  return all(
    filters.map((filter) => {
      if (filter.field === "tag") return filterByTags(filter);
      if (filter.field === "project")
        return filterBy(columns.project, filter, projectIds(workspaceId, filter));
      if (filter.field === "key") return filterBy(columns.key, filter, sql`${named(filter)}::uuid[]`);
      return filterBy(columnIn(filter.field as SpendDimension), filter, listOf(filter));
    }),
  );
}

const all = (conditions: Sql[]): Sql => (conditions.length === 0 ? empty : join(conditions, " "));

const named = ({ values }: SpendFilter): string[] => values.filter((value) => value !== null);

const projectIds = (workspaceId: string, filter: SpendFilter): Sql =>
  sql`array(select id from public.projects where workspace_id = ${workspaceId} and slug = any(${named(filter)}::text[]))`;

/** The values of a filter by names, in the form of its column. */
const listOf = (filter: SpendFilter): Sql =>
  filter.field === "provider"
    ? sql`array(select ${providerKey(sql`name`)} from unnest(${named(filter)}::text[]) as name)`
    : sql`${named(filter)}::text[]`;

/** The condition that a column has one of a filter's values, or none of them. @param list the values that are not null, as an array */
function filterBy(column: Sql, filter: SpendFilter, list: Sql): Sql {
  const hasNone = filter.values.includes(null);
  if (filter.op === "is")
    return hasNone
      ? sql`and (${column} = any(${list}) or ${column} is null)`
      : sql`and ${column} = any(${list})`;
  return hasNone
    ? sql`and ${column} is not null and ${column} <> all(${list})`
    : sql`and (${column} <> all(${list}) or ${column} is null)`;
}

/** Like `filterBy`, for whole tags, of which a row may have several. */
function filterByTags(filter: SpendFilter): Sql {
  const list = sql`${named(filter)}::text[]`;
  const hasNone = filter.values.includes(null);
  if (filter.op === "is")
    return hasNone ? sql`and (s.tags && ${list} or s.tags is null)` : sql`and s.tags && ${list}`;
  return hasNone
    ? sql`and s.tags is not null and not s.tags && ${list}`
    : sql`and (not s.tags && ${list} or s.tags is null)`;
}
