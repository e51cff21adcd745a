import { type Sql, sql } from "@/lib/db/sql";
import { ofWorkspace } from "./messages-sql";
import { compare, figures, sumsOf, totalFigures } from "./sums-sql";

/**
 * Folded sums: the columns of their key, with the column that `period` makes of a day, what they count, their table, and the table
 * of their days.
 */
type Fold = { columns: Sql; counted: readonly string[]; sums: Sql; days: Sql; period: Sql };

/** What the folded days come to. */
const sumsOfDays = (workspaceId: string | null, { columns, counted, days, period }: Fold): Sql => sql`
  select ${columns}, ${sumsOf(counted)}
  from (
    select daily.*, ${period}
    from ${days} as daily join public.spend_folds using (workspace_id)
    where day < folded_until ${ofWorkspace(sql`workspace_id`, workspaceId)}
  ) as days
  group by ${columns}`;

/** Folded sums that differ from the sums of the folded days. */
const compareFolded = (workspaceId: string | null, fold: Fold): Sql =>
  compare(
    fold.columns,
    fold.counted,
    sql`select * from ${fold.sums} where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sumsOfDays(workspaceId, fold),
  );

const months: Fold = {
  columns: sql`workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, end_user, tags`,
  counted: figures,
  sums: sql`public.monthly_spend`,
  days: sql`public.daily_spend`,
  period: sql`date_trunc('month', day::timestamp)::date as month`,
};

/** Differing sums of months, with the names that people know. */
const describedMonths = (compared: Sql): Sql => sql`
  select compared.*, to_char(compared.month, 'YYYY-MM') as month, project.slug as project, key.name as key,
    workspace.slug as workspace
  from (${compared}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, project.slug, compared.*`;

/** Sums of folded days by month that differ from the sums of these days, which are compared with the messages. */
export const differingMonths = (workspaceId: string | null): Sql =>
  describedMonths(compareFolded(workspaceId, months));

const sliceColumns = sql`workspace_id, month, names, environment, type, project_id, api_key_id, provider, model, feature, end_user`;
const sliceFigures = ["amount_usd", "message_count", "item_count"] as const;

/** Rows of slices that differ from the sums of the folded days. Slices that are to be made again are not read, and not compared. */
export const differingSlices = (workspaceId: string | null): Sql =>
  describedMonths(
    compare(
      sliceColumns,
      sliceFigures,
      sql`select stored.*
        from public.monthly_slices as stored join public.sliced_months using (workspace_id, month)
        where state = 'made' ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
      sql`select ${sliceColumns}, ${sumsOf(sliceFigures)}
        from (
          select workspace_id, month, names, environment, type,
            case when 'project' = any(kept) then project_id end as project_id,
            case when 'key' = any(kept) then api_key_id end as api_key_id,
            case when 'model' = any(kept) then provider end as provider,
            case when 'model' = any(kept) then model end as model,
            case when 'feature' = any(kept) then feature end as feature,
            case when 'user' = any(kept) then end_user end as end_user,
            amount_usd, message_count, item_count
          from (${sumsOfDays(workspaceId, months)}) as sums
          join public.sliced_months using (workspace_id, month)
          cross join unnest(slices) as names
          cross join string_to_array(names, ' ') as kept
        ) as sliced
        group by ${sliceColumns}`,
    ),
  );

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
