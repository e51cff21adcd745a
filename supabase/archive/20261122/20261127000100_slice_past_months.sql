-- The months whose slices are to be made, of all workspaces, the latest ones first.
create function private.months_to_slice()
returns table (workspace_id uuid, month date)
language sql stable security definer set search_path = ''
begin atomic
  select s.workspace_id, s.month
  from public.sliced_months as s
  join public.workspaces as w on w.id = s.workspace_id and w.deleted_at is null
  where s.state <> 'made'
  order by s.month desc, s.workspace_id
  limit 10000;
end;
revoke execute on function private.months_to_slice() from public;
grant execute on function private.months_to_slice() to outlay_service, service_role;

-- Whoever makes slices of a workspace holds this lock, so that no month is claimed again while its slices are being made.
create function private.slice_lock(workspace uuid)
returns bigint
language sql immutable set search_path = ''
return hashtextextended('outlay.slice ' || workspace, 0);
revoke execute on function private.slice_lock(uuid) from public;

-- Announces that the slices of a month will be made: whoever changes the month from now on says so in `state`. Whoever began before
-- may have found nothing to say, but holds the lock of folding until the end. So what is read after this transaction has all changes
-- that `state` does not tell.
create function private.claim_month_to_slice(workspace uuid, first_day date)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(private.slice_lock(workspace));
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  update public.sliced_months set state = 'claimed'
  where workspace_id = workspace and month = first_day and state = 'changed';
end
$$;
revoke execute on function private.claim_month_to_slice(uuid, date) from public;
grant execute on function private.claim_month_to_slice(uuid, date) to outlay_service, service_role;

-- Makes the slices of a month that was claimed in an earlier transaction. Nobody waits for it: where the month is changed meanwhile,
-- nothing is kept. A slice is kept where it has far fewer rows than the month, so that all slices of a month stay in proportion to it.
--
-- least_sums, most_sums: the fewest and the most rows of `monthly_spend` that a month with slices has
-- least_ratio: how many rows the month has at least for each row of a slice that is kept
-- returns: the number of the slices' rows
create function private.slice_month(workspace uuid, first_day date, least_sums integer, most_sums integer, least_ratio integer)
returns integer
language plpgsql security definer set search_path = ''
as $$
#variable_conflict use_variable
declare
  month_sums integer;
  kept text[] := '{}';
  sliced integer := 0;
begin
  perform pg_advisory_xact_lock(private.slice_lock(workspace));
  if not exists (
    select from public.sliced_months as s where s.workspace_id = workspace and s.month = first_day and s.state = 'claimed'
  ) then
    return 0;
  end if;
  delete from public.monthly_slices as s where s.workspace_id = workspace and s.month = first_day;

  select count(*) into month_sums from public.monthly_spend as m where m.workspace_id = workspace and m.month = first_day;
  if month_sums between least_sums and most_sums then
    with sums as materialized (
      select concat_ws(
          ' ',
          case when grouping(m.feature) = 0 then 'feature' end,
          case when grouping(m.api_key_id) = 0 then 'key' end,
          case when grouping(m.model) = 0 then 'model' end,
          case when grouping(m.project_id) = 0 then 'project' end,
          case when grouping(m.end_user) = 0 then 'user' end
        ) as names,
        m.environment, m.type, m.project_id, m.api_key_id, m.provider, m.model, m.feature, m.end_user,
        sum(m.amount_usd) as amount_usd, sum(m.message_count) as message_count, sum(m.item_count) as item_count
      from public.monthly_spend as m
      where m.workspace_id = workspace and m.month = first_day
      group by m.environment, m.type, grouping sets (
        (m.feature, m.api_key_id, m.provider, m.model),
        (m.feature, m.api_key_id, m.project_id),
        (m.feature, m.api_key_id, m.end_user),
        (m.feature, m.provider, m.model, m.project_id),
        (m.feature, m.provider, m.model, m.end_user),
        (m.feature, m.project_id, m.end_user),
        (m.api_key_id, m.provider, m.model, m.project_id),
        (m.api_key_id, m.provider, m.model, m.end_user),
        (m.api_key_id, m.project_id, m.end_user),
        (m.provider, m.model, m.project_id, m.end_user)
      )
    ), counted as (
      select names, count(*) as row_count from sums group by names having count(*) * least_ratio <= month_sums
    ), stored as (
      insert into public.monthly_slices (
        workspace_id, month, names, environment, type, project_id, api_key_id, provider, model, feature, end_user,
        amount_usd, message_count, item_count
      )
      select workspace, first_day, names, environment, type, project_id, api_key_id, provider, model, feature, end_user,
        amount_usd, message_count, item_count
      from sums join counted using (names)
      -- Rows that are read together are stored together.
      order by names, environment
      returning 1
    )
    select coalesce(array_agg(names order by row_count, names), '{}'), (select count(*) from stored)
    into kept, sliced
    from counted;
  end if;
  update public.sliced_months as s set state = 'made', slices = kept
  where s.workspace_id = workspace and s.month = first_day and s.state = 'claimed';
  if not found then
    -- Whoever erased a person meanwhile could not see these rows.
    delete from public.monthly_slices as s where s.workspace_id = workspace and s.month = first_day;
    return 0;
  end if;
  return sliced;
end
$$;
revoke execute on function private.slice_month(uuid, date, integer, integer, integer) from public;
grant execute on function private.slice_month(uuid, date, integer, integer, integer) to outlay_service, service_role;

-- Adds changes of the daily sums to the folded sums: those of days that are folded.
create or replace function private.add_folded_spend(changes public.daily_spend[])
returns void
language plpgsql set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(private.fold_lock(workspace_id))
  from (
    select distinct workspace_id from unnest(changes) where day < (now() at time zone 'UTC')::date - 1 order by 1
  ) as changed;
  -- Each statement sees what is committed at its beginning, so those below see what was folded before the lock was held.
  if not exists (
    select from unnest(changes) as c join public.spend_folds as f using (workspace_id) where c.day < f.folded_until
  ) then
    return;
  end if;

  -- The slices of changed months are out of date. Where an earlier change has said so, nothing is locked.
  with changed as materialized (
    select distinct c.workspace_id, date_trunc('month', c.day::timestamp)::date as month
    from unnest(changes) as c join public.spend_folds as f using (workspace_id)
    where c.day < f.folded_until
  ), added as (
    insert into public.sliced_months (workspace_id, month)
    select workspace_id, month from changed order by 1, 2
    on conflict do nothing
  ), locked as (
    select s.workspace_id, s.month
    from public.sliced_months as s join changed using (workspace_id, month)
    where s.state <> 'changed'
    order by 1, 2
    for update of s
  )
  update public.sliced_months as s set state = 'changed', slices = '{}'
  from locked where s.workspace_id = locked.workspace_id and s.month = locked.month;

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select c.workspace_id, date_trunc('month', c.day::timestamp)::date, c.project_id, c.api_key_id, c.type, c.provider, c.model,
    c.feature, c.source, c.environment, sum(c.amount_usd), sum(c.message_count), sum(c.item_count), sum(c.unpriced_count),
    c.end_user, c.tags, sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.weekly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, private.week_in_month(c.day), slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  cross join lateral (
    values ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider), ('model', c.model),
      ('feature', c.feature)
    union all
    select 'user', c.end_user where c.end_user is not null
    union all
    select 'tag', tag from unnest(c.tags) as tag
  ) as slice (dimension, value)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint weekly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, date_trunc('month', c.day::timestamp)::date, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  cross join lateral (
    values ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider), ('model', c.model),
      ('feature', c.feature)
    union all
    select 'user', c.end_user where c.end_user is not null
    union all
    select 'tag', tag from unnest(c.tags) as tag
  ) as slice (dimension, value)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  -- A person who is erased leaves sums of nothing, which would keep the name, and slices that are out of date.
  if exists (select from unnest(changes) where end_user is not null) then
    delete from public.monthly_slices as kept
    using (
      select distinct c.workspace_id, c.end_user, date_trunc('month', c.day::timestamp)::date as month
      from unnest(changes) as c join public.spend_folds as f using (workspace_id)
      where c.end_user is not null and c.day < f.folded_until
    ) as c
    where kept.workspace_id = c.workspace_id and kept.end_user = c.end_user and kept.month = c.month;
    delete from public.monthly_spend as kept
    using (select distinct workspace_id, end_user from unnest(changes) where end_user is not null) as c
    where kept.workspace_id = c.workspace_id and kept.end_user = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.item_count = 0 and kept.unpriced_count = 0
      and kept.included_usd = 0;
    delete from public.weekly_totals as kept
    using (
      select distinct workspace_id, environment, end_user, private.week_in_month(day) as first_day
      from unnest(changes) where end_user is not null
    ) as c
    where kept.workspace_id = c.workspace_id and kept.environment = c.environment and kept.dimension = 'user'
      and kept.first_day = c.first_day and kept.value = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.unpriced_count = 0 and kept.included_usd = 0;
    delete from public.monthly_totals as kept
    using (
      select distinct workspace_id, environment, end_user, date_trunc('month', day::timestamp)::date as first_day
      from unnest(changes) where end_user is not null
    ) as c
    where kept.workspace_id = c.workspace_id and kept.environment = c.environment and kept.dimension = 'user'
      and kept.first_day = c.first_day and kept.value = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.unpriced_count = 0 and kept.included_usd = 0;
  end if;
end
$$;

-- Folds the past days of a workspace, at most to the end of a month. A day is past twelve hours after the day that follows it:
-- no transaction that took it for a present one is still open then (see `private.add_daily_spend`).
--
-- returns: the number of sums that were folded; null where there is nothing to do
create or replace function private.fold_past_days()
returns integer
language plpgsql security definer set search_path = ''
as $$
#variable_conflict use_variable
declare
  past_until date := ((now() - interval '12 hours') at time zone 'UTC')::date - 1;
  workspace uuid;
  first_day date;
  until_day date;
  folded integer;
begin
  select w.id into workspace
  from public.workspaces as w
  left join public.spend_folds as f on f.workspace_id = w.id
  where w.deleted_at is null and exists (
    select from public.daily_spend as d
    where d.workspace_id = w.id and d.day >= coalesce(f.folded_until, '-infinity') and d.day < past_until
  )
  order by f.folded_until nulls first, w.id
  limit 1;
  if workspace is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  select f.folded_until into first_day from public.spend_folds as f where f.workspace_id = workspace;
  select min(d.day) into first_day from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= coalesce(first_day, '-infinity') and d.day < past_until;
  if first_day is null then
    -- Another process was first.
    return 0;
  end if;
  until_day := least(past_until, (date_trunc('month', first_day::timestamp) + interval '1 month')::date);

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select d.workspace_id, date_trunc('month', d.day::timestamp)::date, d.project_id, d.api_key_id, d.type, d.provider, d.model,
    d.feature, d.source, d.environment, sum(d.amount_usd), sum(d.message_count), sum(d.item_count), sum(d.unpriced_count),
    d.end_user, d.tags, sum(d.included_usd)
  from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= first_day and d.day < until_day
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 10, 3, 2
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;
  get diagnostics folded = row_count;

  insert into public.weekly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select t.workspace_id, t.environment, t.dimension, private.week_in_month(t.day), t.value, t.type,
    sum(t.amount_usd), sum(t.message_count), sum(t.unpriced_count), sum(t.included_usd)
  from public.daily_totals as t
  where t.workspace_id = workspace and t.environment in ('live', 'test')
    and t.dimension in ('project', 'key', 'provider', 'model', 'feature', 'user', 'tag')
    and t.day >= first_day and t.day < until_day
  group by 1, 2, 3, 4, 5, 6
  -- Rows that are read together are stored together.
  order by 1, 2, 3, 4
  on conflict on constraint weekly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select t.workspace_id, t.environment, t.dimension, date_trunc('month', t.day::timestamp)::date, t.value, t.type,
    sum(t.amount_usd), sum(t.message_count), sum(t.unpriced_count), sum(t.included_usd)
  from public.daily_totals as t
  where t.workspace_id = workspace and t.environment in ('live', 'test')
    and t.dimension in ('project', 'key', 'provider', 'model', 'feature', 'user', 'tag')
    and t.day >= first_day and t.day < until_day
  group by 1, 2, 3, 4, 5, 6
  -- Rows that are read together are stored together.
  order by 1, 2, 3, 4
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.sliced_months (workspace_id, month)
  values (workspace, date_trunc('month', first_day::timestamp)::date)
  on conflict (workspace_id, month) do update set state = 'changed', slices = '{}';
  insert into public.spend_folds (workspace_id, folded_until) values (workspace, until_day)
  on conflict (workspace_id) do update set folded_until = excluded.folded_until;
  return folded;
end
$$;

-- Forgets the folded sums of a workspace. Its days are read one by one until they are folded again.
create or replace function private.unfold_days(workspace uuid)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  delete from public.spend_folds where workspace_id = workspace;
  delete from public.monthly_spend where workspace_id = workspace;
  delete from public.weekly_totals where workspace_id = workspace;
  delete from public.monthly_totals where workspace_id = workspace;
  delete from public.sliced_months where workspace_id = workspace;
  delete from public.monthly_slices where workspace_id = workspace;
end
$$;
