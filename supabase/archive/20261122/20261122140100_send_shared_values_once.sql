-- Reading JSON was the largest part of writing a message: most values are the same in all rows of a group, and a price is
-- longer than the rest of its row. A value that all rows have in common now comes once, in `shared`. The columns are those of
-- the table, so that a new column needs no change here.

drop function private.store_messages(jsonb, jsonb, jsonb);

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [{ column: value }], the postings, without the columns that `shared` has and without those that are null.
-- shared: { column: value }, what all of them have in common.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}')
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  written integer;
  common public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}' || shared);
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
    insert into public.messages
    select * from jsonb_populate_recordset(common, messages)
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

revoke all on function private.store_messages(jsonb, jsonb, jsonb, jsonb) from public;
grant execute on function private.store_messages(jsonb, jsonb, jsonb, jsonb) to outlay_service, service_role;
