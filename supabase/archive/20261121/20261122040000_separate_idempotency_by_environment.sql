-- Idempotency keys are per workspace and environment: what a test key posts never makes a live key's message a conflict.

-- Nearly all that is kept is live: the default fills it in without writing a row again.
alter table private.idempotency
  add column environment text not null default 'live' check (environment in ('live', 'test'));
update private.idempotency set environment = 'test' where request ->> 'environment' = 'test';
alter table private.idempotency alter column environment drop default;

-- The environment last: answers are looked up by workspace and key, and are at most two.
alter table private.idempotency drop constraint idempotency_pkey;
alter table private.idempotency add primary key (workspace_id, key, environment);

-- As before, and with the environment of the remembered request.
--
-- Writes admitted messages with everything that must be true at the same moment: their projects, the rollup, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the
-- caller then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  written integer;
  changes public.daily_spend[];
begin
  if jsonb_array_length(projects) > 0 then
    insert into public.projects (workspace_id, id, slug, name)
    select workspace_id, id, slug, name
    from jsonb_to_recordset(projects) as p (workspace_id uuid, id uuid, slug text, name text)
    order by workspace_id, slug
    on conflict (workspace_id, slug) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(projects) then
      raise exception 'another request made the project first' using errcode = 'serialization_failure';
    end if;
  end if;

  if jsonb_array_length(replays) > 0 then
    insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
    select workspace_id, request ->> 'environment', key, message_id, request, response, created_at
    from jsonb_to_recordset(replays)
      as r (workspace_id uuid, key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
    order by workspace_id, request ->> 'environment', key
    on conflict (workspace_id, key, environment) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(replays) then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end if;
  end if;

  with stored as (
    insert into public.messages (
      workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment,
      provider, model, feature, unit_type, quantity, amount_usd, cost_status, price, currency, original_amount,
      batch_id, label, category, notes, metadata, details, items
    )
    select
      workspace_id, id, coalesce(part, 0), occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment,
      provider, model, feature, unit_type, quantity, amount_usd, cost_status, price, currency, original_amount,
      batch_id, label, category, notes, metadata, details, items
    from jsonb_to_recordset(messages) as m (
      workspace_id uuid, id uuid, part smallint, occurred_at timestamptz, created_at timestamptz, project_id uuid,
      api_key_id uuid, user_id uuid, type text, source text, environment text, provider text, model text, feature text,
      unit_type text, quantity numeric, amount_usd numeric, cost_status text, price jsonb, currency text,
      original_amount numeric, batch_id text, label text, category text, notes text, metadata jsonb, details jsonb, items jsonb
    )
    returning *
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), count(*) filter (where part = 0)
    from stored
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count
  )::public.daily_spend) into changes
  from (
    select
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider,
      case when items is null then stored.model else line.model end as model,
      case when items is null then stored.feature else line.feature end as feature,
      source, environment,
      sum(case when items is null then stored.amount_usd else line.amount_usd end) as amount_usd,
      count(*) filter (where part = 0 and coalesce(line.number, 1) = 1) as message_count,
      count(*) filter (where part = 0) as item_count,
      count(*) filter (where case when items is null then stored.cost_status else line.cost_status end = 'unpriced')
        as unpriced_count
    from stored
    left join lateral rows from (
      jsonb_to_recordset(stored.items) as (model text, feature text, amount_usd numeric, cost_status text)
    ) with ordinality as line (model, feature, amount_usd, cost_status, number) on true
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ) as sums;
  perform private.add_daily_spend(changes);
end
$$;
