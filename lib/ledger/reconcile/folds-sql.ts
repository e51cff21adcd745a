import { type Sql, sql } from "@/lib/db/sql";
import { ofWorkspace } from "./messages-sql";
import { compare, figures, sumsOf, totalFigures } from "./sums-sql";

/**
 * A kind of folded sums. `columns`: of its key; `month` is the one with the first day of the month. `counted`: its figures. `sums` and
 * `days`: the tables of the folded sums and of the sums of days.
 */
type Fold = { columns: Sql; month: Sql; counted: readonly string[]; sums: Sql; days: Sql };

/** Selects folded sums that differ from the sums of the folded days. */
const compareFolded = (workspaceId: string | null, { columns, month, counted, sums, days }: Fold): Sql =>
  compare(
    columns,
    counted,
    sql`select * from ${sums} where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sql`select ${columns}, ${sumsOf(counted)}
      from (
        select daily.*, date_trunc('month', day::timestamp)::date as ${month}
        from ${days} as daily join public.spend_folds using (workspace_id)
        where day < folded_until ${ofWorkspace(sql`workspace_id`, workspaceId)}
      ) as days
      group by ${columns}`,
  );

/** Selects sums by month that differ from the sums of their days. Those are compared with the messages (`differingDays`). */
export const differingMonths = (workspaceId: string | null): Sql => sql`
  select compared.*, to_char(compared.month, 'YYYY-MM') as month, project.slug as project, key.name as key,
    workspace.slug as workspace
  from (${compareFolded(workspaceId, {
    columns: sql`workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags`,
    month: sql`month`,
    counted: figures,
    sums: sql`public.monthly_spend`,
    days: sql`public.daily_spend`,
  })}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, project.slug, compared.*`;

/** Selects totals by month that differ from the totals of their days. */
export const differingMonthTotals = (workspaceId: string | null): Sql => sql`
  select compared.*, to_char(compared.first_day, 'YYYY-MM-DD') as first_day, compared.value as name,
    workspace.slug as workspace
  from (${compareFolded(workspaceId, {
    columns: sql`workspace_id, environment, dimension, first_day, value, type`,
    month: sql`first_day`,
    counted: totalFigures,
    sums: sql`public.monthly_totals`,
    days: sql`public.daily_totals`,
  })}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  order by workspace.slug, compared.first_day, compared.dimension, compared.*`;

/** Deletes the folded sums of a workspace. The service's job folds its days again. */
export const unfold = (workspaceId: string): Sql => sql`select private.unfold_days(${workspaceId})`;
