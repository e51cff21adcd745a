-- Idempotency keys are inserted without `on conflict`, which looks each up twice: a tenth of the work of recording spans in Postgres.

create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}')
returns void
language plpgsql security definer set search_path = '' set "TimeZone" = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  written integer;
  first_part public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}');
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  -- Without groups, all rows are one.
  if jsonb_typeof(shared) = 'object' then
    shared := jsonb_build_array(shared);
    messages := jsonb_build_array(messages);
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
    -- Without `on conflict`, which looks each key up twice.
    begin
      insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
      select r.workspace_id, r.request ->> 'environment', named.key, r.message_id, r.request, r.response, r.created_at
      from jsonb_to_recordset(replays)
        as r (workspace_id uuid, keys text[], key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
      -- Versions before this one name one key.
      cross join lateral unnest(coalesce(r.keys, array[r.key])) as named (key)
      order by 1, 2, 3;
    exception when unique_violation then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end;
  end if;

  with stored as (
    insert into public.messages
    select completed.*
    from jsonb_array_elements(shared) with ordinality as groups (common, place)
    cross join lateral jsonb_populate_recordset(
      jsonb_populate_record(first_part, groups.common), messages -> (groups.place - 1)::integer
    ) as completed
    returning workspace_id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status, end_user, tags, list_price_usd
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
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from stored
    where exists (select from public.budgets where budgets.workspace_id = stored.workspace_id)
  ) into changes, budgeted
  from (
    select
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags,
      sum(amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      count(*) filter (where part = 0) as message_count,
      count(*) as item_count,
      count(*) filter (where cost_status = 'unpriced') as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from stored
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$$;
