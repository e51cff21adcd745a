import { type Sql, sql } from "@/lib/db/sql";
import { ofWorkspace } from "./messages-sql";
import { compare, figures, sumsOf, totalFigures } from "./sums-sql";

const monthColumns = sql`workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags`;

/** Sums of folded days by month that differ from the sums of these days, which are compared with the messages. */
export const differingMonths = (workspaceId: string | null): Sql => sql`
  select compared.*, to_char(compared.month, 'YYYY-MM') as month, project.slug as project, key.name as key,
    workspace.slug as workspace
  from (${compare(
    monthColumns,
    figures,
    sql`select * from public.monthly_spend where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sql`select ${monthColumns}, ${sumsOf(figures)}
      from (
        select daily.*, date_trunc('month', day::timestamp)::date as month
        from public.daily_spend as daily join public.spend_folds using (workspace_id)
        where day < folded_until ${ofWorkspace(sql`workspace_id`, workspaceId)}
      ) as days
      group by ${monthColumns}`,
  )}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, project.slug, compared.*`;

const weekColumns = sql`workspace_id, environment, dimension, first_day, value, type`;

/** Totals of folded days by week that differ from the totals of these days. */
export const differingWeeks = (workspaceId: string | null): Sql => sql`
  select compared.*, to_char(compared.first_day, 'YYYY-MM-DD') as first_day, compared.value as name,
    workspace.slug as workspace
  from (${compare(
    weekColumns,
    totalFigures,
    sql`select * from public.weekly_totals where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sql`select ${weekColumns}, ${sumsOf(totalFigures)}
      from (
        select daily.*, private.week_in_month(day) as first_day
        from public.daily_totals as daily join public.spend_folds using (workspace_id)
        where day < folded_until ${ofWorkspace(sql`workspace_id`, workspaceId)}
      ) as days
      group by ${weekColumns}`,
  )}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  order by workspace.slug, compared.first_day, compared.dimension, compared.*`;

/** Forgets the folded sums of a workspace: its days are folded again by the service's job. */
export const unfold = (workspaceId: string): Sql => sql`select private.unfold_days(${workspaceId})`;
