import { type Sql, sql } from "@/lib/db/sql";
import { ofWorkspace } from "./messages-sql";
import { compare, figures, sumsOf, totalFigures } from "./sums-sql";

/**
 * Folded sums that differ from the sums of the folded days.
 * @param fold.columns the key of the sums, with the column that `fold.period` makes of a day
 * @param fold.sums the folded sums, and `fold.days` the table of the days
 */
const compareFolded = (
  workspaceId: string | null,
  fold: { columns: Sql; counted: readonly string[]; sums: Sql; days: Sql; period: Sql },
): Sql =>
  compare(
    fold.columns,
    fold.counted,
    sql`select * from ${fold.sums} where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sql`select ${fold.columns}, ${sumsOf(fold.counted)}
      from (
        select daily.*, ${fold.period}
        from ${fold.days} as daily join public.spend_folds using (workspace_id)
        where day < folded_until ${ofWorkspace(sql`workspace_id`, workspaceId)}
      ) as days
      group by ${fold.columns}`,
  );

const monthColumns = sql`workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags`;

/** Sums of folded days by month that differ from the sums of these days, which are compared with the messages. */
export const differingMonths = (workspaceId: string | null): Sql => sql`
  select compared.*, to_char(compared.month, 'YYYY-MM') as month, project.slug as project, key.name as key,
    workspace.slug as workspace
  from (${compareFolded(workspaceId, {
    columns: monthColumns,
    counted: figures,
    sums: sql`public.monthly_spend`,
    days: sql`public.daily_spend`,
    period: sql`date_trunc('month', day::timestamp)::date as month`,
  })}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, project.slug, compared.*`;

const totalColumns = sql`workspace_id, environment, dimension, first_day, value, type`;

/** Totals of folded days that differ from the totals of these days, each part of the calendar by its first day. */
const differingTotals = (workspaceId: string | null, totals: Sql, firstDay: Sql): Sql => sql`
  select compared.*, to_char(compared.first_day, 'YYYY-MM-DD') as first_day, compared.value as name,
    workspace.slug as workspace
  from (${compareFolded(workspaceId, {
    columns: totalColumns,
    counted: totalFigures,
    sums: totals,
    days: sql`public.daily_totals`,
    period: sql`${firstDay} as first_day`,
  })}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  order by workspace.slug, compared.first_day, compared.dimension, compared.*`;

/** Totals of folded days by week that differ from the totals of these days. */
export const differingWeeks = (workspaceId: string | null): Sql =>
  differingTotals(workspaceId, sql`public.weekly_totals`, sql`private.week_in_month(day)`);

/** Totals of folded days by month that differ from the totals of these days. */
export const differingMonthTotals = (workspaceId: string | null): Sql =>
  differingTotals(workspaceId, sql`public.monthly_totals`, sql`date_trunc('month', day::timestamp)::date`);

/** Forgets the folded sums of a workspace: its days are folded again by the service's job. */
export const unfold = (workspaceId: string): Sql => sql`select private.unfold_days(${workspaceId})`;
