-- The sums have rows by person and tags, and what subscriptions cover beside what is paid. Rows without a person and tags
-- are as they were.
alter table public.daily_spend
  add column end_user text,
  add column tags text[],
  add column included_usd numeric not null default 0;
alter table public.daily_totals add column included_usd numeric not null default 0;
alter table private.removed_messages add column included_usd numeric not null default 0;

alter table public.daily_totals drop constraint daily_totals_dimension_check;
alter table public.daily_totals add constraint daily_totals_dimension_check
  check (dimension = any (array['project', 'key', 'provider', 'model', 'feature', 'user', 'tag']));
comment on column public.daily_totals.dimension is
  'All but `user` and `tag` contain all spend. These two have rows for names alone; spend has a row for each of its tags.';

-- A short value that stands for a person and tags in the key of the rollup. The names together may be longer than a row of an
-- index can be.
create function private.attribution_of(end_user text, tags text[])
returns bytea
language plpgsql immutable set search_path = ''
as $$
begin
  return sha256(convert_to(jsonb_build_array(end_user, tags)::text, 'UTF8'));
end
$$;
revoke execute on function private.attribution_of(text, text[]) from public;

alter table public.daily_spend drop constraint daily_spend_key;
create unique index daily_spend_key on public.daily_spend (
  workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
  (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
) nulls not distinct;
create index daily_spend_user_idx on public.daily_spend (workspace_id, end_user, day) where end_user is not null;

-- Adds to the daily sums: to the rollup, then to its totals, each in the order of its key. Everything that is recorded or
-- corrected uses this function, so that the two always agree.
create or replace function private.add_daily_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $function$
begin
  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  from unnest(changes)
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = daily.amount_usd + excluded.amount_usd,
        message_count = daily.message_count + excluded.message_count,
        item_count = daily.item_count + excluded.item_count,
        unpriced_count = daily.unpriced_count + excluded.unpriced_count,
        included_usd = daily.included_usd + excluded.included_usd;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c
  cross join lateral (values
    ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider),
    ('model', c.model), ('feature', c.feature)
  ) as slice (dimension, value)
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint daily_totals_key do update
    set amount_usd = total.amount_usd + excluded.amount_usd,
        message_count = total.message_count + excluded.message_count,
        unpriced_count = total.unpriced_count + excluded.unpriced_count,
        included_usd = total.included_usd + excluded.included_usd;

  -- Apart, so that what names neither costs no more.
  if exists (select from unnest(changes) where end_user is not null or tags is not null) then
    insert into public.daily_totals as total (
      workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
    )
    select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
      sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
    from unnest(changes) as c
    cross join lateral (
      select 'user' as dimension, c.end_user as value where c.end_user is not null
      union all
      select 'tag', tag from unnest(c.tags) as tag
    ) as slice
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict on constraint daily_totals_key do update
      set amount_usd = total.amount_usd + excluded.amount_usd,
          message_count = total.message_count + excluded.message_count,
          unpriced_count = total.unpriced_count + excluded.unpriced_count,
          included_usd = total.included_usd + excluded.included_usd;
  end if;
end
$function$;

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [{ column: value }], the postings, without the columns that `shared` has and without those that are null.
-- shared: { column: value }, what all of them have in common.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}'::jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
 set plan_cache_mode to 'force_generic_plan'
as $function$
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
  )::public.daily_spend) into changes
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
end
$function$;

-- Removes every message of a month that is over, of all workspaces, and remembers what they came to: all of it or nothing.
-- The partition stays, empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create or replace function private.remove_messages_month(first_day date)
 returns void
 language plpgsql
 set search_path to ''
 set "TimeZone" to 'UTC'
 set lock_timeout to '200ms'
as $function$
declare
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day >= date_trunc('month', now())::date then
    raise exception 'the month of % is not over', first_day using errcode = 'invalid_parameter_value';
  end if;
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', created_at)::date as recorded_in,
          sum(amount_usd) as amount_usd,
          count(*) filter (where part = 0) as message_count,
          count(*) as item_count,
          count(*) filter (where cost_status = 'unpriced') as unpriced_count,
          coalesce(sum(list_price_usd), 0) as included_usd
        from private.%I
        group by 1, 2, 3, 4
      ), per_key as (
        insert into private.removed_key_spend as kept (workspace_id, api_key_id, month, amount_usd, message_count)
        select workspace_id, api_key_id, recorded_in, sum(amount_usd), sum(message_count)
        from gone where api_key_id is not null
        group by 1, 2, 3
        on conflict (workspace_id, api_key_id, month) do update
          set amount_usd = kept.amount_usd + excluded.amount_usd,
              message_count = kept.message_count + excluded.message_count
      )
      insert into private.removed_messages as kept
        (workspace_id, month, environment, amount_usd, message_count, item_count, unpriced_count, included_usd, removed_at)
      select workspace_id, $1, environment, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        sum(included_usd), clock_timestamp()
      from gone
      group by 1, 3
      on conflict (month, workspace_id, environment) do update
        set amount_usd = kept.amount_usd + excluded.amount_usd,
            message_count = kept.message_count + excluded.message_count,
            item_count = kept.item_count + excluded.item_count,
            unpriced_count = kept.unpriced_count + excluded.unpriced_count,
            included_usd = kept.included_usd + excluded.included_usd,
            removed_at = excluded.removed_at
    $statement$, partition_name
  ) using first_day;
  -- Readers come and go; each attempt holds up new ones for at most the lock timeout.
  for attempt in 1..20 loop
    begin
      execute format('lock table only private.%I in access exclusive mode', partition_name);
      exit;
    exception when lock_not_available then
      if attempt = 20 then
        raise;
      end if;
    end;
    perform pg_catalog.pg_sleep(0.05);
  end loop;
  execute format('truncate table only private.%I', partition_name);
end
$function$;

drop function private.month_totals(uuid, text);
-- returns: the projects that cost something in the current UTC month, the dearest first; USD
create or replace function private.month_totals(workspace uuid, in_environment text)
 returns table(slug text, name text, total numeric, usage numeric, subscription numeric, expense numeric, messages numeric, unpriced numeric, included numeric)
 language plpgsql
 stable
 set search_path to ''
as $function$
#variable_conflict use_column
declare
  first_day date := date_trunc('month', now() at time zone 'UTC');
begin
  -- Summed before the names are joined: sorting every row by its project's name costs as much as all the rest.
  return query
    select projects.slug, projects.name, spend.total, spend.usage, spend.subscription, spend.expense, spend.messages,
      spend.unpriced, spend.included
    from (
      select value::uuid as project_id,
        coalesce(sum(amount_usd), 0) as total,
        coalesce(sum(amount_usd) filter (where type in ('usage', 'batch', 'allocation')), 0) as usage,
        coalesce(sum(amount_usd) filter (where type = 'subscription'), 0) as subscription,
        coalesce(sum(amount_usd) filter (where type = 'expense'), 0) as expense,
        coalesce(sum(message_count), 0) as messages,
        coalesce(sum(unpriced_count), 0) as unpriced,
        coalesce(sum(included_usd), 0) as included
      from public.daily_totals
      where workspace_id = workspace and environment = in_environment and dimension = 'project'
        and day >= first_day and day < (first_day + interval '1 month')::date
      group by value
    ) as spend
    join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id
    order by total desc, projects.slug;
end
$function$;
revoke execute on function private.month_totals(uuid, text) from public;
grant execute on function private.month_totals(uuid, text) to outlay_key;

-- Changes what postings cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, part, occurred_at, amount_usd, cost_status, price, list_price_usd }]. Returns the change of the total, USD.
create or replace function private.apply_repricing(workspace uuid, changes jsonb)
 returns numeric
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  per_day public.daily_spend[];
  total numeric;
begin
  with change as (
    select id, part, occurred_at, amount_usd, cost_status, price, list_price_usd
    from jsonb_to_recordset(changes) as c (
      id uuid, part smallint, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb,
      list_price_usd numeric
    )
  ), difference as (
    select m.workspace_id, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.type, m.provider, m.model, m.feature,
      m.source, m.environment, m.end_user, m.tags, c.amount_usd - m.amount_usd as amount_usd,
      coalesce(c.list_price_usd, 0) - coalesce(m.list_price_usd, 0) as included_usd,
      (c.cost_status = 'unpriced')::int - (m.cost_status = 'unpriced')::int as unpriced_count
    from public.messages as m
    join change as c using (id, part, occurred_at)
    where m.workspace_id = workspace
  ), updated as (
    update public.messages as m
    set amount_usd = c.amount_usd, cost_status = c.cost_status, price = c.price, list_price_usd = c.list_price_usd
    from change as c
    where m.workspace_id = workspace and m.id = c.id and m.part = c.part and m.occurred_at = c.occurred_at
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), 0
    from difference
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update set amount_usd = spend.amount_usd + excluded.amount_usd
  )
  select
    (
      select array_agg(row(
        workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
        amount_usd, 0, 0, unpriced_count, end_user, tags, included_usd
      )::public.daily_spend)
      from (
        select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source,
          environment, end_user, tags, sum(amount_usd) as amount_usd, sum(unpriced_count) as unpriced_count,
          sum(included_usd) as included_usd
        from difference
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
      ) as sums
    ),
    (select coalesce(sum(amount_usd), 0) from difference)
  into per_day, total;
  perform private.add_daily_spend(per_day);
  return total;
end
$function$;
