/**
 * The lines of every message in a range of instants, as the rollup counts them: a batch is its items, any other message
 * itself. $1 and $2 are the range, $3 the workspace or null for all.
 */
export const entries = `
  select workspace_id, (occurred_at at time zone 'UTC')::date as day, project_id, api_key_id, type, provider, model, feature,
    source, environment, amount_usd, (part = 0)::int as message_count, (part = 0)::int as item_count,
    (cost_status = 'unpriced')::int as unpriced_count
  from public.messages
  where items is null and occurred_at >= $1 and occurred_at < $2 and ($3::uuid is null or workspace_id = $3)
  union all
  select m.workspace_id, (m.occurred_at at time zone 'UTC')::date, m.project_id, m.api_key_id, m.type, m.provider,
    line.model, line.feature, m.source, m.environment, line.amount_usd, (line.number = 1)::int, 1,
    (line.cost_status = 'unpriced')::int
  from public.messages as m
  cross join rows from (
    jsonb_to_recordset(m.items) as (model text, feature text, amount_usd numeric, cost_status text)
  ) with ordinality as line (model, feature, amount_usd, cost_status, number)
  where m.items is not null and m.occurred_at >= $1 and m.occurred_at < $2 and ($3::uuid is null or m.workspace_id = $3)`;

/** The columns by which the rollup is kept, in the order in which the service writes its rows. */
const dimensions =
  "workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment";
const figures = ["amount_usd", "message_count", "item_count", "unpriced_count"] as const;

/** Two sets of sums put side by side, in one statement and so in one snapshot; only what differs is left. */
function compare(by: string, names: readonly string[], stored: string, actual: string): string {
  const both = (set: string, other: string) =>
    names.map((name) => `${name} as ${set}_${name}, 0 as ${other}_${name}`).join(", ");
  const sums = names.flatMap((name) =>
    ["stored", "actual"].map((side) => `sum(${side}_${name}) as ${side}_${name}`),
  );
  const columns = names.flatMap((name) => [`stored_${name}`, `actual_${name}`]).join(", ");
  return `
    select ${by}, ${sums.join(", ")}
    from (
      select ${by}, ${columns} from (select ${by}, ${both("stored", "actual")} from (${stored}) as kept) as one
      union all
      select ${by}, ${columns} from (select ${by}, ${both("actual", "stored")} from (${actual}) as counted) as other
    ) as sides
    group by ${by}
    having ${names.map((name) => `sum(stored_${name}) <> sum(actual_${name})`).join(" or ")}`;
}

/** What adds the differences to the stored figures. Sums move on together with their messages, so a difference stays true. */
function mend(table: string, by: string, names: readonly string[], conflict: string, compared: string) {
  const deltas = names.map((name) => `actual_${name} - stored_${name}`).join(", ");
  const sets = names.map((name) => `${name} = kept.${name} + excluded.${name}`).join(", ");
  return `insert into ${table} as kept (${by}, ${names.join(", ")})
    select ${by}, ${deltas} from (${compared}) as compared
    order by ${by}
    on conflict ${conflict} do update set ${sets}`;
}

/** A row that stands for nothing any more. */
const isEmpty = (names: readonly string[]) => names.map((name) => `${name} = 0`).join(" and ");

const comparedDays = compare(
  dimensions,
  figures,
  `select ${dimensions}, ${figures.join(", ")} from public.daily_spend
   where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')::date
     and ($3::uuid is null or workspace_id = $3)`,
  `select ${dimensions}, ${figures.map((name) => `sum(${name}) as ${name}`).join(", ")}
   from (${entries}) as entries group by ${dimensions}`,
);

/** Sums of days in a month that differ from their messages. */
export const differingDays = `
  select compared.*, project.slug as project, key.name as key, workspace.slug as workspace
  from (${comparedDays}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project
    on project.workspace_id = compared.workspace_id and project.id = compared.project_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.day, project.slug, compared.*`;
export const mendDays = mend(
  "public.daily_spend",
  dimensions,
  figures,
  "on constraint daily_spend_key",
  comparedDays,
);
export const removeEmptyDays = `
  delete from public.daily_spend
  where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')::date
    and workspace_id = $3 and ${isEmpty(figures)}`;

const totalColumns = "workspace_id, environment, dimension, day, value, type";
const totalFigures = ["amount_usd", "message_count", "unpriced_count"] as const;
const totalSums = totalFigures.map((name) => `sum(${name}) as ${name}`).join(", ");
const comparedTotals = compare(
  totalColumns,
  totalFigures,
  `select ${totalColumns}, ${totalFigures.join(", ")} from public.daily_totals
   where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')::date
     and ($3::uuid is null or workspace_id = $3)`,
  // Summed before it is cut up: there are far fewer combinations than messages.
  `select ${totalColumns}, ${totalSums}
   from (select ${dimensions}, ${totalSums} from (${entries}) as entries group by ${dimensions}) as spend
   cross join lateral (values
     ('project', project_id::text), ('key', api_key_id::text), ('provider', provider), ('model', model), ('feature', feature)
   ) as slice (dimension, value)
   group by ${totalColumns}`,
);

/** Totals of days in a month, by one dimension each, that differ from their messages. */
export const differingTotals = `
  select compared.*, coalesce(project.slug, key.name, compared.value) as name, workspace.slug as workspace
  from (${comparedTotals}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.projects as project on compared.dimension = 'project'
    and project.workspace_id = compared.workspace_id and project.id::text = compared.value
  left join public.api_keys as key on compared.dimension = 'key'
    and key.workspace_id = compared.workspace_id and key.id::text = compared.value
  order by workspace.slug, compared.day, compared.dimension, compared.*`;
export const mendTotals = mend(
  "public.daily_totals",
  totalColumns,
  totalFigures,
  "on constraint daily_totals_key",
  comparedTotals,
);
export const removeEmptyTotals = `
  delete from public.daily_totals
  where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')::date
    and workspace_id = $3 and ${isEmpty(totalFigures)}`;

const keyColumns = "workspace_id, api_key_id, month";
const keyFigures = ["amount_usd", "message_count"] as const;
const comparedKeys = compare(
  keyColumns,
  keyFigures,
  `select ${keyColumns}, amount_usd, message_count from public.key_spend where $1::uuid is null or workspace_id = $1`,
  `select workspace_id, api_key_id, date_trunc('month', created_at at time zone 'UTC')::date as month,
     sum(amount_usd) as amount_usd, count(*) filter (where part = 0) as message_count
   from public.messages where api_key_id is not null and ($1::uuid is null or workspace_id = $1)
   group by 1, 2, 3`,
);

/** What keys spent in months that differs from the messages recorded with them. $1: the workspace or null. */
export const differingKeys = `
  select compared.*, to_char(month, 'YYYY-MM') as month, key.name as key, workspace.slug as workspace
  from (${comparedKeys}) as compared
  left join public.workspaces as workspace on workspace.id = compared.workspace_id
  left join public.api_keys as key on key.workspace_id = compared.workspace_id and key.id = compared.api_key_id
  order by workspace.slug, compared.month, compared.api_key_id`;
export const mendKeys = mend(
  "public.key_spend",
  keyColumns,
  keyFigures,
  "(workspace_id, api_key_id, month)",
  comparedKeys,
);
export const removeEmptyKeys = `delete from public.key_spend where workspace_id = $1 and ${isEmpty(keyFigures)}`;
