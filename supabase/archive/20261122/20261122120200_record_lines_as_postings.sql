-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: the postings. Raises serialization_failure (40001) where another process was first with a project or an
-- idempotency key; the caller then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  written integer;
  changes public.daily_spend[];
begin
  -- Lines within a row are how the version before sent a batch. They would be lost here.
  if messages @? '$[*].items' then
    raise exception 'a process of an older version is still running; stop it' using errcode = 'feature_not_supported';
  end if;

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
      batch_id, label, category, notes, metadata, details
    )
    select
      workspace_id, id, coalesce(part, 0), occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment,
      provider, model, feature, unit_type, quantity, amount_usd, cost_status, price, currency, original_amount,
      batch_id, label, category, notes, metadata, details
    from jsonb_to_recordset(messages) as m (
      workspace_id uuid, id uuid, part smallint, occurred_at timestamptz, created_at timestamptz, project_id uuid,
      api_key_id uuid, user_id uuid, type text, source text, environment text, provider text, model text, feature text,
      unit_type text, quantity numeric, amount_usd numeric, cost_status text, price jsonb, currency text,
      original_amount numeric, batch_id text, label text, category text, notes text, metadata jsonb, details jsonb
    )
    returning workspace_id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status
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
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      sum(amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      count(*) filter (where part = 0) as message_count,
      count(*) as item_count,
      count(*) filter (where cost_status = 'unpriced') as unpriced_count
    from stored
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ) as sums;
  perform private.add_daily_spend(changes);
end
$$;
