-- The first day of the part of a week that lies in one month.
create function private.week_in_month(day date)
returns date
language sql immutable set search_path = ''
return greatest(date_trunc('week', day::timestamp), date_trunc('month', day::timestamp))::date;
revoke execute on function private.week_in_month(date) from public;

-- Whoever folds the days of a workspace holds this lock alone, and whoever changes sums of past days holds it together with
-- others, so that each change is in the folded sums exactly once.
create function private.fold_lock(workspace uuid)
returns bigint
language sql immutable set search_path = ''
return hashtextextended('outlay.fold ' || workspace, 0);
revoke execute on function private.fold_lock(uuid) from public;

-- Adds changes of the daily sums to the folded sums: those of days that are folded.
create function private.add_folded_spend(changes public.daily_spend[])
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

  -- A person who is erased leaves sums of nothing, which would keep the name.
  if exists (select from unnest(changes) where end_user is not null) then
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
  end if;
end
$$;
revoke execute on function private.add_folded_spend(public.daily_spend[]) from public;

-- Folds the past days of a workspace, at most to the end of a month. A day is past twelve hours after the day that follows it:
-- no transaction that took it for a present one is still open then (see `private.add_daily_spend`).
--
-- returns: the number of sums that were folded; null where there is nothing to do
create function private.fold_past_days()
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

  insert into public.spend_folds (workspace_id, folded_until) values (workspace, until_day)
  on conflict (workspace_id) do update set folded_until = excluded.folded_until;
  return folded;
end
$$;
revoke execute on function private.fold_past_days() from public;
grant execute on function private.fold_past_days() to outlay_service, service_role;

-- Forgets the folded sums of a workspace. Its days are read one by one until they are folded again.
create function private.unfold_days(workspace uuid)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  delete from public.spend_folds where workspace_id = workspace;
  delete from public.monthly_spend where workspace_id = workspace;
  delete from public.weekly_totals where workspace_id = workspace;
end
$$;
revoke execute on function private.unfold_days(uuid) from public;

create function private.unfold_deleted_workspace()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.unfold_days(old.id);
  return null;
end
$$;
revoke execute on function private.unfold_deleted_workspace() from public;
create trigger deleted_workspaces_are_unfolded
  after delete on public.workspaces for each row execute function private.unfold_deleted_workspace();
