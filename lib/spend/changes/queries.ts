import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import { boolean, nullable, numeric, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import type { CostKind } from "./causes";

/** Two ranges of days of one workspace and environment. */
export type Comparison = {
  workspaceId: string;
  environment: "live" | "test";
  range: DayRange;
  before: DayRange;
};

const segmentRow = {
  is_now: boolean(),
  project: text(),
  project_name: nullable(text()),
  model: nullable(text()),
  kind: text<CostKind>(),
  cost: numeric(),
  lines: numeric(),
};

/** What each project spent on each model and kind of cost in both ranges. Amounts are USD as exact text. */
export function selectSegments(
  client: ClientBase,
  { workspaceId, environment, range, before }: Comparison,
): Promise<Row<typeof segmentRow>[]> {
  return selectAll(
    client,
    segmentRow,
    sql`select is_now, project_id::text as project, projects.name as project_name, model, kind, cost, lines
      from (
        select day >= ${range.from} and day < ${range.until} as is_now, project_id, model,
          case type when 'batch' then 'usage' else type end as kind, sum(amount_usd) as cost,
          sum(case when type in ('usage', 'batch') then item_count else 0 end) as lines
        from public.daily_spend
        where workspace_id = ${workspaceId} and environment = ${environment}
          and ((day >= ${range.from} and day < ${range.until}) or (day >= ${before.from} and day < ${before.until}))
        group by 1, 2, 3, 4
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
            coalesce(sum(amount_usd) filter (where day >= ${range.from} and day < ${range.until}), 0) as now,
            coalesce(sum(amount_usd) filter (where day >= ${before.from} and day < ${before.until}), 0) as before
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
