import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { empty, join, type Sql, sql } from "@/lib/db/sql";
import { type LedgerFilters, lineConditions, rowConditions } from "@/lib/spend/activity/filters";
import { type CutDayOf, rowsOfCutDay } from "@/lib/spend/cut-day";
import { divideAtFolds, rowsOfFolds, rowsOfTotals } from "@/lib/spend/folded-days";
import { isNarrow } from "@/lib/spend/metrics/rows-sql";
import type { CostKind } from "./causes";

/** Two ranges of days to compare. `cut`: a day of which only a part is compared, too. `filters` limit the spend that is read. */
export type ComparedRanges = {
  workspaceId: string;
  environment: "live" | "test";
  filters?: Omit<LedgerFilters, "environment"> | undefined;
  range: DayRange;
  before: DayRange;
  cut: CutDayOf | undefined;
};

/** A comparison, and the day before which sums are folded; null if none are. */
type Folded = ComparedRanges & { foldedUntil: string | null };

const segmentRow = {
  project: text(),
  project_name: nullable(text()),
  project_slug: nullable(text()),
  model: nullable(text()),
  kind: text<CostKind>(),
  now_cost: numeric(),
  now_lines: numeric(),
  before_cost: numeric(),
  before_lines: numeric(),
};

/** What a project spent on one model, or one other kind of cost, in both ranges. Amounts are USD as exact text. */
export type SegmentRow = Row<typeof segmentRow>;

/**
 * The rows of both ranges, each marked with whether it is of the earlier range. A row in both ranges is read twice.
 * @param ofCut selects the same columns of the rows of the cut day
 */
function rowsOfBoth(
  { range, before, cut }: ComparedRanges,
  rowsOf: (days: DayRange, wasBefore: Sql) => Sql,
  ofCut: (rows: Sql) => Sql,
): Sql {
  const cutRows = cut ? [ofCut(sql`(${rowsOfCutDay(cut)}) as cut`)] : [];
  return join([rowsOf(range, sql`false`), rowsOf(before, sql`true`), ...cutRows], " union all ");
}

/** The sums of both ranges that match the filters: of days, of folded months and of the cut day. */
function sumsOfBoth(comparison: Folded, columns: Sql): Sql {
  const { workspaceId, environment, foldedUntil, filters } = comparison;
  const only = (row: Sql) =>
    filters ? sql`${rowConditions(row, workspaceId, filters)} ${lineConditions(row, filters)}` : empty;
  return rowsOfBoth(
    comparison,
    (range, wasBefore) => {
      const select = (table: Sql, day: Sql) => (days: DayRange) =>
        sql`
        select ${columns}, ${wasBefore} as was_before from ${table} as s
        where workspace_id = ${workspaceId} and environment = ${environment} and ${day} >= ${days.from} and ${day} < ${days.until} ${only(sql`s`)}`;
      return rowsOfFolds(
        divideAtFolds(range, foldedUntil),
        select(sql`public.daily_spend`, sql`day`),
        select(sql`public.monthly_spend`, sql`month`),
      );
    },
    (cut) => sql`select ${columns}, true from ${cut} where true ${only(sql`cut`)}`,
  );
}

/** The segments of both ranges, which may overlap. */
export function selectSegments(client: ClientBase, comparison: Folded): Promise<SegmentRow[]> {
  const { workspaceId } = comparison;
  const rows = sumsOfBoth(comparison, sql`project_id, model, type, amount_usd, item_count`);
  const lines = sql`case when type in ('usage', 'batch') then item_count end`;
  return selectAll(
    client,
    segmentRow,
    sql`select project_id::text as project, projects.name as project_name, projects.slug as project_slug, model, kind, now_cost, now_lines,
        before_cost, before_lines
      from (
        select project_id, model, case type when 'batch' then 'usage' else type end as kind,
          coalesce(sum(amount_usd) filter (where not was_before), 0) as now_cost,
          coalesce(sum(${lines}) filter (where not was_before), 0) as now_lines,
          coalesce(sum(amount_usd) filter (where was_before), 0) as before_cost,
          coalesce(sum(${lines}) filter (where was_before), 0) as before_lines
        from (${rows}) as sums
        group by 1, 2, 3
      ) as spend
      left join public.projects on projects.workspace_id = ${workspaceId} and projects.id = project_id`,
  );
}

const moverRow = {
  dimension: text<"user" | "key">(),
  value: nullable(text()),
  name: nullable(text()),
  now: numeric(),
  before: numeric(),
};

/** What people and keys spent in both ranges: read from the totals, which have fewer rows, or with filters from the sums. */
function rowsOfMovers(comparison: Folded): Sql {
  const { workspaceId, environment, foldedUntil, filters } = comparison;
  if (filters && isNarrow(filters))
    return sql`
      select who.dimension, who.value, amount_usd, was_before
      from (${sumsOfBoth(comparison, sql`end_user, api_key_id, amount_usd`)}) as sums
      cross join lateral (values ('user', end_user), ('key', api_key_id::text)) as who (dimension, value)
      where who.value is not null`;
  return rowsOfBoth(
    comparison,
    (range, wasBefore) =>
      rowsOfTotals(
        range,
        foldedUntil,
        ({ name, day }, { from, until }) => sql`
        select dimension, value, amount_usd, ${wasBefore} as was_before from ${name}
        where workspace_id = ${workspaceId} and environment = ${environment} and dimension in ('user', 'key')
          and value is not null and ${day} >= ${from} and ${day} < ${until}`,
      ),
    (cut) => sql`
      select part.dimension, part.value, cut.amount_usd, true from ${cut}
      cross join lateral (values ('user', cut.end_user), ('key', cut.api_key_id::text)) as part (dimension, value)
      where part.value is not null`,
  );
}

/** The people and keys whose spend differs most between two ranges, `atMost` of each. Amounts are USD as exact text. */
export function selectMovers(
  client: ClientBase,
  comparison: Folded,
  atMost: number,
): Promise<Row<typeof moverRow>[]> {
  const { workspaceId } = comparison;
  const rows = rowsOfMovers(comparison);
  return selectAll(
    client,
    moverRow,
    sql`select dimension, value, coalesce(keys.name, value) as name, spend.now, spend.before
      from (
        select *, row_number() over (partition by dimension order by abs(sums.now - sums.before) desc, value) as place
        from (
          select dimension, value,
            coalesce(sum(amount_usd) filter (where not was_before), 0) as now,
            coalesce(sum(amount_usd) filter (where was_before), 0) as before
          from (${rows}) as totals
          group by 1, 2
        ) as sums
        where sums.now <> sums.before
      ) as spend
      left join public.api_keys as keys
        on dimension = 'key' and keys.workspace_id = ${workspaceId} and keys.id::text = value
      where place <= ${atMost}
      order by dimension, place`,
  );
}
