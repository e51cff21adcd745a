import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/month";
import type { LedgerScope } from "@/lib/spend/scope";

/** Sums of a set of rows, USD as exact text. */
export type TotalsRow = {
  total: string;
  usage: string;
  subscription: string;
  expense: string;
  messages: string;
  unpriced: string;
};

const totals = `
  coalesce(sum(amount_usd), 0) as total,
  coalesce(sum(amount_usd) filter (where type in ('usage', 'batch', 'allocation')), 0) as usage,
  coalesce(sum(amount_usd) filter (where type = 'subscription'), 0) as subscription,
  coalesce(sum(amount_usd) filter (where type = 'expense'), 0) as expense,
  coalesce(sum(message_count), 0) as messages,
  coalesce(sum(unpriced_count), 0) as unpriced`;

/** Totals of each project that the caller may see, the dearest first. */
export async function selectProjectTotals(
  client: ClientBase,
  { workspaceId, environment }: LedgerScope,
  { from, until }: DayRange,
): Promise<(TotalsRow & { slug: string; name: string })[]> {
  const { rows } = await client.query(
    // Summed before the names are joined: sorting every row by its project's name costs as much as all the rest.
    `select projects.slug, projects.name, spend.*
     from (
       select value::uuid as project_id, ${totals}
       from public.daily_totals
       where workspace_id = $3 and environment = $4 and dimension = 'project' and day >= $1 and day < $2
       group by value
     ) as spend
     join public.projects on projects.workspace_id = $3 and projects.id = spend.project_id
     order by total desc, projects.slug`,
    [from, until, workspaceId, environment],
  );
  return rows;
}

/** A workspace's project by its slug, where the caller may see it. */
export async function selectProject(
  client: ClientBase,
  workspaceId: string,
  slug: string,
): Promise<{ workspace_id: string; id: string; slug: string; name: string } | undefined> {
  const { rows } = await client.query(
    "select workspace_id, id, slug, name from public.projects where workspace_id = $1 and slug = $2",
    [workspaceId, slug],
  );
  return rows[0];
}

/**
 * What a project spent between two instants, by day, type, model and feature. Whole days are read from the rollup; of a
 * day that the range cuts, the messages themselves, so that an instant is an instant. One pass: every figure of a range
 * is a sum of these rows, and so they agree.
 */
export async function selectSpendLines(
  client: ClientBase,
  project: { workspace_id: string; id: string },
  from: Date,
  to: Date,
): Promise<
  {
    day: string;
    type: string;
    model: string | null;
    feature: string | null;
    amount_usd: string;
    message_count: string;
    unpriced_count: string;
  }[]
> {
  const { rows } = await client.query(
    `with bounds as (
       select ceiled.day as first_whole, greatest(ceiled.day, ($4::timestamptz at time zone 'UTC')::date) as last_whole
       from (
         select (($3::timestamptz at time zone 'UTC') + interval '1 day' - interval '1 microsecond')::date as day
       ) as ceiled
     ), lines as (
       select day, type, model, feature, amount_usd, message_count, unpriced_count
       from public.daily_spend, bounds
       where workspace_id = $1 and project_id = $2 and day >= first_whole and day < last_whole
       union all
       select
         (m.occurred_at at time zone 'UTC')::date, m.type,
         case when m.items is null then m.model else line.model end,
         case when m.items is null then m.feature else line.feature end,
         case when m.items is null then m.amount_usd else line.amount_usd end,
         (m.part = 0 and coalesce(line.number, 1) = 1)::int,
         (case when m.items is null then m.cost_status else line.cost_status end = 'unpriced')::int
       from bounds, public.messages as m
       left join lateral rows from (
         jsonb_to_recordset(m.items) as (model text, feature text, amount_usd numeric, cost_status text)
       ) with ordinality as line (model, feature, amount_usd, cost_status, number) on true
       where m.workspace_id = $1 and m.project_id = $2
         and m.occurred_at >= $3 and m.occurred_at < $4
         and not (
           (m.occurred_at at time zone 'UTC')::date >= first_whole and (m.occurred_at at time zone 'UTC')::date < last_whole
         )
     )
     select day, type, model, feature, sum(amount_usd) as amount_usd,
       sum(message_count) as message_count, sum(unpriced_count) as unpriced_count
     from lines
     group by day, type, model, feature
     order by day, type, model, feature`,
    [project.workspace_id, project.id, from, to],
  );
  return rows;
}

/** The latest rows of a project in a range, at most `limit`. */
export async function selectLatestRows(
  client: ClientBase,
  project: { workspace_id: string; id: string },
  from: Date,
  to: Date,
  limit: number,
) {
  const { rows } = await client.query<{
    id: string;
    occurred_at: Date;
    created_at: Date;
    type: string;
    amount_usd: string;
    cost_status: "client" | "priced" | "converted" | "unpriced";
    provider: string | null;
    model: string | null;
    feature: string | null;
    unit_type: string | null;
    quantity: string | null;
    source: string;
    label: string | null;
  }>(
    `select id, occurred_at, created_at, type, trim_scale(amount_usd) as amount_usd, cost_status, provider, model, feature,
       unit_type, trim_scale(quantity) as quantity, source, label
     from public.messages
     where workspace_id = $1 and project_id = $2 and occurred_at >= $3 and occurred_at < $4
     order by occurred_at desc, id desc
     limit $5`,
    [project.workspace_id, project.id, from, to, limit],
  );
  return rows;
}
