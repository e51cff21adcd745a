import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import { nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import type { CostKind } from "./causes";

/** Two ranges of days of one workspace and environment. */
export type Comparison = {
  workspaceId: string;
  environment: "live" | "test";
  range: DayRange;
  before: DayRange;
};

const segmentRow = {
  project: text(),
  project_name: nullable(text()),
  model: nullable(text()),
  kind: text<CostKind>(),
  now_cost: numeric(),
  now_lines: numeric(),
  before_cost: numeric(),
  before_lines: numeric(),
};

/** What a project spent on one model, or one other kind of cost, in both ranges. Amounts are USD as exact text. */
export type SegmentRow = Row<typeof segmentRow>;

/** Whether the `day` of a row of sums is in a range. */
function within({ from, until }: DayRange): Sql {
  return sql`day >= ${from} and day < ${until}`;
}

/** The segments of both ranges, which may overlap. */
export function selectSegments(
  client: ClientBase,
  { workspaceId, environment, range, before }: Comparison,
): Promise<SegmentRow[]> {
  const isNow = within(range);
  const wasBefore = within(before);
  const lines = sql`case when type in ('usage', 'batch') then item_count end`;
  return selectAll(
    client,
    segmentRow,
    sql`select project_id::text as project, projects.name as project_name, model, kind, now_cost, now_lines,
        before_cost, before_lines
      from (
        select project_id, model, case type when 'batch' then 'usage' else type end as kind,
          coalesce(sum(amount_usd) filter (where ${isNow}), 0) as now_cost,
          coalesce(sum(${lines}) filter (where ${isNow}), 0) as now_lines,
          coalesce(sum(amount_usd) filter (where ${wasBefore}), 0) as before_cost,
          coalesce(sum(${lines}) filter (where ${wasBefore}), 0) as before_lines
        from public.daily_spend
        where workspace_id = ${workspaceId} and environment = ${environment} and ((${isNow}) or (${wasBefore}))
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

/** The people and keys whose spend differs most between two ranges, `atMost` of each. Amounts are USD as exact text. */
export function selectMovers(
  client: ClientBase,
  { workspaceId, environment, range, before }: Comparison,
  atMost: number,
): Promise<Row<typeof moverRow>[]> {
  return selectAll(
    client,
    moverRow,
    sql`select dimension, value, coalesce(keys.name, value) as name, spend.now, spend.before
      from (
        select *, row_number() over (partition by dimension order by abs(sums.now - sums.before) desc, value) as place
        from (
          select dimension, value,
            coalesce(sum(amount_usd) filter (where ${within(range)}), 0) as now,
            coalesce(sum(amount_usd) filter (where ${within(before)}), 0) as before
          from public.daily_totals
          where workspace_id = ${workspaceId} and environment = ${environment} and dimension in ('user', 'key')
            and value is not null
            and ((day >= ${range.from} and day < ${range.until}) or (day >= ${before.from} and day < ${before.until}))
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
