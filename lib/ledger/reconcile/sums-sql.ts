import { empty, join, raw, type Sql, sql } from "@/lib/db/sql";
import { ofWorkspace } from "./messages-sql";

/**
 * A month of days, in the time zone of each workspace. `from` and `until`: its bounds in UTC, ISO 8601. `hasZones`: whether any workspace
 * has a time zone other than UTC.
 */
export type Month = { from: string; until: string; hasZones: boolean };

/** A month of days of one workspace; `workspaceId` null for all. */
export type MonthOf = Month & { workspaceId: string | null };

/** The postings of a month of days with their counts in the rollup: a message counts on its first posting, a void counts -1. */
export const entries = ({ from, until, hasZones, workspaceId }: MonthOf) => {
  const zones = sql`
    left join (select id, time_zone from public.workspaces) as workspace on workspace.id = m.workspace_id
    cross join lateral (
      select private.local_time(m.occurred_at, coalesce(workspace.time_zone, 'UTC'))::date as day
    ) as local`;
  const isInMonth = hasZones
    ? sql`m.occurred_at >= ${from}::timestamptz - interval '14 hours' and m.occurred_at < ${until}::timestamptz + interval '12 hours'
        and local.day >= ${firstDay({ from })} and local.day < ${firstDay({ from: until })}`
    : sql`m.occurred_at >= ${from} and m.occurred_at < ${until}`;
  return sql`
  select workspace_id, ${hasZones ? sql`local.day` : sql`(occurred_at at time zone 'UTC')::date as day`}, project_id, api_key_id, type, provider, model, feature,
    source, environment, end_user, tags, amount_usd, (part = 0)::int * private.sign_of(voids) as message_count,
    private.sign_of(voids) as item_count, (cost_status = 'unpriced')::int * private.sign_of(voids) as unpriced_count, coalesce(list_price_usd, 0) as included_usd
  from public.messages as m ${hasZones ? zones : empty}
  where ${isInMonth} ${ofWorkspace(sql`workspace_id`, workspaceId)}`;
};

/** The key columns of the rollup, in the order in which the service writes its rows. */
const names = sql`workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment`;
const dimensions = sql`${names}, end_user, tags`;
export const figures = [
  "amount_usd",
  "message_count",
  "item_count",
  "unpriced_count",
  "included_usd",
] as const;

/** The key of the rollup, as in its unique index. */
const dayKey = sql`(
  ${names}, (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
)`;

/** The names of figures, each written out by `write`. */
function each(names: readonly string[], write: (name: Sql) => Sql, separator = ", "): Sql {
  return join(
    names.map((name) => write(raw(name))),
    separator,
  );
}

/** Names as a list of columns. */
const listed = (names: readonly string[]) => each(names, (name) => name);

/** Compares two sets of sums in one statement, and so in one snapshot. Selects the rows that differ. */
export function compare(by: Sql, names: readonly string[], stored: Sql, actual: Sql): Sql {
  const keptAlone = each(names, (name) => sql`${name} as stored_${name}, 0 as actual_${name}`);
  const countedAlone = each(names, (name) => sql`${name} as actual_${name}, 0 as stored_${name}`);
  const columns = each(names, (name) => sql`stored_${name}, actual_${name}`);
  const sums = each(
    names,
    (name) => sql`sum(stored_${name}) as stored_${name}, sum(actual_${name}) as actual_${name}`,
  );
  return sql`
    select ${by}, ${sums}
    from (
      select ${by}, ${columns} from (select ${by}, ${keptAlone} from (${stored}) as kept) as one
      union all
      select ${by}, ${columns} from (select ${by}, ${countedAlone} from (${actual}) as counted) as other
    ) as sides
    group by ${by}
    having ${each(names, (name) => sql`sum(stored_${name}) <> sum(actual_${name})`, " or ")}`;
}

/** Adds the differences to the stored figures. Messages and sums change together, so a difference stays correct. */
function repair(table: Sql, by: Sql, names: readonly string[], conflict: Sql, compared: Sql): Sql {
  return sql`
    insert into ${table} as kept (${by}, ${listed(names)})
    select ${by}, ${each(names, (name) => sql`actual_${name} - stored_${name}`)} from (${compared}) as compared
    order by ${by}
    on conflict ${conflict} do update set ${each(names, (name) => sql`${name} = kept.${name} + excluded.${name}`)}`;
}

/** Condition: a row has no messages. */
const isEmpty = (names: readonly string[]) => each(names, (name) => sql`${name} = 0`, " and ");

/** Condition: the day is in a month. */
const inMonth = ({ from, until }: MonthOf) => sql`
  day >= (${from}::timestamptz at time zone 'UTC')::date and day < (${until}::timestamptz at time zone 'UTC')::date`;

/** The first day of a month. */
const firstDay = ({ from }: Pick<Month, "from">) => sql`(${from}::timestamptz at time zone 'UTC')::date`;

/** Condition: the row is not one of the sums that a change of a time zone is preparing. */
const isInUse = sql`not exists (select from public.time_zone_changes as c where c.staging_id = workspace_id)`;

/**
 * Condition: messages of the row's workspace and environment in the month were removed (`npm run retention`). Evaluated within each
 * statement, so in the same snapshot.
 */
const isRemoved = (of: MonthOf) => sql`
  (workspace_id, environment) in (
    select workspace_id, environment from private.removed_messages where month_of_days = ${firstDay(of)}
  )`;

/** A list of columns that are summed, under their own names. */
export const sumsOf = (names: readonly string[]) => each(names, (name) => sql`sum(${name}) as ${name}`);

/** The rollup of a month. */
const keptDays = (of: MonthOf) => sql`
  select ${dimensions}, ${listed(figures)} from public.daily_spend
  where ${inMonth(of)} and ${isInUse} ${ofWorkspace(sql`workspace_id`, of.workspaceId)}`;

/** Compares the sums of days with their messages. Leaves out months with removed messages, whose amounts by day are unknown. */
const comparedDays = (of: MonthOf) =>
  compare(
    dimensions,
    figures,
    sql`${keptDays(of)} and not ${isRemoved(of)}`,
    sql`select ${dimensions}, ${sumsOf(figures)}
   from (${entries(of)} and not ${isRemoved(of)}) as entries group by ${dimensions}`,
  );

const perEnvironment = sql`workspace_id, environment`;

/**
 * Selects the sums of a month with removed messages that differ from the stored sums of the removed messages plus the present messages.
 * They are compared by workspace and environment, because that is all that is stored of removed messages.
 */
export const differingRemoved = (of: MonthOf) => sql`
  select compared.*, to_char(${firstDay(of)}, 'YYYY-MM') as month, workspace.slug as workspace
  from (${compare(
    perEnvironment,
    figures,
    sql`select ${perEnvironment}, ${sumsOf(figures)}
      from (${keptDays(of)} and ${isRemoved(of)}) as kept group by ${perEnvironment}`,
    sql`select ${perEnvironment}, ${sumsOf(figures)}
      from (
        select ${perEnvironment}, ${listed(figures)} from (${entries(of)} and ${isRemoved(of)}) as entries
        union all
        select ${perEnvironment}, ${listed(figures)} from private.removed_messages
        where month_of_days = ${firstDay(of)} ${ofWorkspace(sql`workspace_id`, of.workspaceId)}
      ) as counted group by ${perEnvironment}`,
  )}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  order by workspace.slug, compared.environment`;

/** Selects the sums of days in a month that differ from their messages. */
export const differingDays = (of: MonthOf) => sql`
  select compared.*, project.slug as project, key.name as key, workspace.slug as workspace
  from (${comparedDays(of)}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.day, project.slug, compared.*`;
/** Writes the daily sums of a month that differ from its messages. */
export const repairDays = (of: MonthOf) =>
  repair(sql`public.daily_spend`, dimensions, figures, dayKey, comparedDays(of));
/** Deletes the daily sums of a month in which every figure is 0. */
export const removeEmptyDays = (of: MonthOf) => sql`
  delete from public.daily_spend
  where ${inMonth(of)} and workspace_id = ${of.workspaceId} and ${isEmpty(figures)}`;

const totalColumns = sql`workspace_id, environment, dimension, day, value, type`;
export const totalFigures = ["amount_usd", "message_count", "unpriced_count", "included_usd"] as const;
const totalSums = sumsOf(totalFigures);
const comparedTotals = (of: MonthOf) =>
  compare(
    totalColumns,
    totalFigures,
    sql`select ${totalColumns}, ${listed(totalFigures)} from public.daily_totals
   where ${inMonth(of)} and ${isInUse} ${ofWorkspace(sql`workspace_id`, of.workspaceId)}`,
    // Sums messages by combination before splitting them by dimension, because there are far fewer combinations than messages. If the
    // messages were removed, compares with the rollup instead.
    sql`select ${totalColumns}, ${totalSums}
   from (
     select ${dimensions}, ${totalSums} from (${entries(of)} and not ${isRemoved(of)}) as entries group by ${dimensions}
     union all
     select ${dimensions}, ${listed(totalFigures)} from (${keptDays(of)} and ${isRemoved(of)}) as kept
   ) as spend
   cross join lateral (
     values ('project', project_id::text), ('key', api_key_id::text), ('provider', provider), ('model', model), ('feature', feature)
     union all
     select 'user', end_user where end_user is not null
     union all
     select 'tag', tag from unnest(tags) as tag
   ) as slice (dimension, value)
   group by ${totalColumns}`,
  );

/** Selects the totals of days in a month, each by one dimension, that differ from their messages. */
export const differingTotals = (of: MonthOf) => sql`
  select compared.*, coalesce(project.slug, key.name, compared.value) as name, workspace.slug as workspace
  from (${comparedTotals(of)}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project on compared.dimension = 'project'
    and project.workspace_id = compared.workspace_id and project.id::text = compared.value
  left join public.api_keys as key on compared.dimension = 'key'
    and key.workspace_id = compared.workspace_id and key.id::text = compared.value
  order by workspace.slug, compared.day, compared.dimension, compared.*`;
/** Writes the daily totals of a month that differ from its messages. */
export const repairTotals = (of: MonthOf) =>
  repair(
    sql`public.daily_totals`,
    totalColumns,
    totalFigures,
    sql`on constraint daily_totals_key`,
    comparedTotals(of),
  );
/** Deletes the daily totals of a month in which every figure is 0. */
export const removeEmptyTotals = (of: MonthOf) => sql`
  delete from public.daily_totals
  where ${inMonth(of)} and workspace_id = ${of.workspaceId} and ${isEmpty(totalFigures)}`;

const keyColumns = sql`workspace_id, api_key_id, month`;
const keyFigures = ["amount_usd", "message_count"] as const;
const comparedKeys = (workspaceId: string | null) =>
  compare(
    keyColumns,
    keyFigures,
    sql`select ${keyColumns}, amount_usd, message_count from public.key_spend
   where true ${ofWorkspace(sql`workspace_id`, workspaceId)}`,
    sql`select ${keyColumns}, ${sumsOf(keyFigures)}
   from (
     select workspace_id, api_key_id, date_trunc('month', coalesce(counted_at, created_at) at time zone 'UTC')::date as month,
       sum(amount_usd) as amount_usd, coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count
     from public.messages where api_key_id is not null ${ofWorkspace(sql`workspace_id`, workspaceId)}
     group by 1, 2, 3
     union all
     select ${keyColumns}, ${listed(keyFigures)} from private.removed_key_spend
     where true ${ofWorkspace(sql`workspace_id`, workspaceId)}
   ) as recorded
   group by ${keyColumns}`,
  );

/** Selects the monthly spend of keys that differs from the messages recorded with them. */
export const differingKeys = (workspaceId: string | null) => sql`
  select compared.*, to_char(month, 'YYYY-MM') as month, key.name as key, workspace.slug as workspace
  from (${comparedKeys(workspaceId)}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, compared.api_key_id`;
/** Writes the spend of keys by month that differs from their messages. */
export const repairKeys = (workspaceId: string) =>
  repair(
    sql`public.key_spend`,
    keyColumns,
    keyFigures,
    sql`(workspace_id, api_key_id, month)`,
    comparedKeys(workspaceId),
  );
/** Deletes the spend of keys by month in which every figure is 0. */
export const removeEmptyKeys = (workspaceId: string) => sql`
  delete from public.key_spend where workspace_id = ${workspaceId} and ${isEmpty(keyFigures)}`;

const budgetColumns = sql`workspace_id, budget_id, environment, period_from`;
const budgetFigures = ["spent_usd", "booked_usd"] as const;
/** Condition: no messages of the budget period were removed. The hours at which removed messages occurred are unknown. */
const isWhole = sql`
  not exists (
    select from private.removed_messages as r
    where r.workspace_id = spend.workspace_id and r.environment = spend.environment
      and r.month + interval '1 month 1 day' > spend.period_from and r.month - 1 < spend.period_until
  )`;
const comparedBudgets = (workspaceId: string | null) =>
  compare(
    budgetColumns,
    budgetFigures,
    sql`select ${budgetColumns}, ${listed(budgetFigures)}
    from (
      select kept.*, private.budget_period_end(b, kept.period_from) as period_until
      from public.budget_spend as kept
      join public.budgets as b on b.workspace_id = kept.workspace_id and b.id = kept.budget_id
      where true ${ofWorkspace(sql`kept.workspace_id`, workspaceId)}
    ) as spend
    where ${isWhole}`,
    sql`select ${budgetColumns}, ${listed(budgetFigures)}
    from (
      select b.workspace_id, b.id as budget_id, m.environment, period.first_day as period_from,
        private.budget_period_end(b, period.first_day) as period_until, sum(m.amount_usd) as spent_usd,
        coalesce(sum(m.amount_usd) filter (where m.type in ('subscription', 'expense')), 0) as booked_usd
      from public.budgets as b
      join public.messages as m
        on m.workspace_id = b.workspace_id and private.is_in_budget(b, m)
          and m.occurred_at >= b.counted_from::timestamp at time zone b.time_zone
      cross join lateral (select private.budget_period(b, m.occurred_at) as first_day) as period
      where period.first_day is not null ${ofWorkspace(sql`b.workspace_id`, workspaceId)}
      group by 1, 2, 3, 4, 5
    ) as spend
    where ${isWhole}`,
  );

/** Selects the spend of budget periods that differs from the messages. */
export const differingBudgets = (workspaceId: string | null) => sql`
  select compared.*, budget.name as budget, workspace.slug as workspace
  from (${comparedBudgets(workspaceId)}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.budgets as budget
    on budget.workspace_id = compared.workspace_id and budget.id = compared.budget_id
  order by workspace.slug, budget.name, compared.*`;
/** Writes the counts of budgets that differ from the messages that they count. */
export const repairBudgets = (workspaceId: string) =>
  repair(
    sql`public.budget_counts`,
    budgetColumns,
    budgetFigures,
    sql`(workspace_id, budget_id, environment, period_from)`,
    comparedBudgets(workspaceId),
  );

/** Selects closed months whose sums differ from the filed figures. */
export const differingClosedMonths = (workspaceId: string | null) => sql`
  select closing.workspace_id, workspace.slug as workspace, to_char(closing.month, 'YYYY-MM') as month,
    closing.amount_usd as stored_amount_usd, coalesce(total.amount_usd, 0) as actual_amount_usd,
    closing.message_count as stored_message_count, coalesce(total.message_count, 0) as actual_message_count,
    closing.unpriced_count as stored_unpriced_count, coalesce(total.unpriced_count, 0) as actual_unpriced_count
  from public.closed_months as closing
  join public.workspaces as workspace on workspace.id = closing.workspace_id
  cross join lateral (
    select sum(t.amount_usd) as amount_usd, sum(t.message_count) as message_count, sum(t.unpriced_count) as unpriced_count
    from public.daily_totals as t
    where t.workspace_id = closing.workspace_id and t.environment = 'live' and t.dimension = 'project'
      and t.day >= closing.month and t.day < closing.month + interval '1 month'
  ) as total
  where closing.reopened_at is null ${ofWorkspace(sql`closing.workspace_id`, workspaceId)}
    and (closing.amount_usd, closing.message_count, closing.unpriced_count)
      is distinct from (coalesce(total.amount_usd, 0), coalesce(total.message_count, 0), coalesce(total.unpriced_count, 0))
  order by workspace.slug, closing.month`;
