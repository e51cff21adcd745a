import type { Fixtures } from "@/tests/helpers/keys";

/** Two histories: two years of a busy team, and the first month of a team with as many names. */
export const histories = {
  young: { messages: 500, storedMessages: 500, months: 1 },
  full: { messages: 10_000_000, storedMessages: 300_000, months: 24 },
};

/**
 * The size of a history. Only the messages of this month exist as rows. Of earlier months only the sums exist, because
 * nothing else is read.
 */
type History = (typeof histories)[keyof typeof histories];

/** The numbers of names in use, and of their combinations on a day, which are the rows of the rollup. */
const names = { projects: 40, models: 30, features: 40, keys: 20, combinations: 500 };

/** Distinct combinations of names, by number. */
const combinations = `
  select number,
    project.id as project_id, key.id as api_key_id,
    (array['openai', 'anthropic', 'google', 'mistral', 'in-house'])[1 + number % ${names.models} % 5] as provider,
    'model-' || number % ${names.models} as model,
    'feature-' || (number % 120 * 13 + number / 120) % ${names.features} as feature,
    (0.0021 + number * 0.000013)::numeric as amount_usd
  from generate_series(0, ${names.combinations - 1}) as number
  join (
    select id, row_number() over (order by slug) - 1 as place from public.projects where workspace_id = $1
  ) as project on project.place = number % ${names.projects}
  join (
    select id, row_number() over (order by name) - 1 as place from public.api_keys where workspace_id = $1
  ) as key on key.place = number % ${names.keys}`;

const rollupRow = (figures: string) => `row(
  $1::uuid, day, project_id, api_key_id, 'usage', provider, model, feature, 'api', 'live', ${figures}, null, null, 0
)::public.daily_spend`;

/** Fills a workspace: this month's messages, and the sums of every month. */
export async function makeHistory(
  { sql }: Fixtures,
  workspace: string,
  { messages, storedMessages, months }: History,
): Promise<void> {
  await sql.query(
    `insert into public.projects (workspace_id, slug, name)
     select $1, 'project-' || number, 'Project ' || number from generate_series(1, ${names.projects}) as number`,
    [workspace],
  );
  await sql.query(
    `insert into public.api_keys (workspace_id, name, prefix, last_four, permissions)
     select $1, 'Key ' || number, 'svc_live_xxxx', lpad(number::text, 4, '0'), array['log_usage']
     from generate_series(1, ${names.keys}) as number`,
    [workspace],
  );
  await sql.query(
    `with combination as (${combinations}), days as (
       select generate_series(this_month - interval '${months - 1} months', this_month - 1, '1 day')::date as day
       from (select date_trunc('month', now() at time zone 'UTC')::date) as now (this_month)
     ), share as (
       select ${messages - storedMessages} / nullif(count(*) * ${names.combinations}, 0) as messages from days
     )
     select private.add_daily_spend(array_agg(${rollupRow("amount_usd * messages, messages, messages, 0")}))
     from days cross join combination cross join share
     group by date_trunc('month', day)`,
    [workspace],
  );
  await sql.query("select private.ensure_messages_month(now())");
  await sql.query(
    `with combination as materialized (${combinations})
     insert into public.messages (
       workspace_id, id, occurred_at, created_at, project_id, api_key_id, type, source, environment, provider, model, feature,
       unit_type, quantity, amount_usd, cost_status
     )
     select $1, gen_random_uuid(), at, at, project_id, api_key_id, 'usage', 'api', 'live', provider, model, feature,
       'input_tokens', 1000, amount_usd, 'client'
     from generate_series(0, ${storedMessages - 1}) as message
     cross join lateral (
       select this_month + (now() - this_month) * (message::float8 / ${storedMessages}) as at
       from (select date_trunc('month', now(), 'UTC')) as now (this_month)
     ) as moment
     join combination on number = message % ${names.combinations}`,
    [workspace],
  );
  await sql.query(
    `select private.add_daily_spend(array_agg(${rollupRow("amount_usd, messages, messages, 0")}))
     from (
       select (occurred_at at time zone 'UTC')::date as day, project_id, api_key_id, provider, model, feature,
         sum(amount_usd) as amount_usd, count(*) as messages
       from public.messages where workspace_id = $1
       group by 1, 2, 3, 4, 5, 6
     ) as spend`,
    [workspace],
  );
  await sql.query(
    `insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
     select workspace_id, api_key_id, date_trunc('month', day)::date, sum(amount_usd), sum(message_count)
     from public.daily_spend where workspace_id = $1
     group by 1, 2, 3`,
    [workspace],
  );
  await sql.query("vacuum analyze public.messages, public.daily_spend, public.daily_totals");
}
