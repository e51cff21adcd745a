-- Sums of past days by month, which reads of long ranges use.

create function private.unfold_deleted_workspace()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.unfold_days(old.id);
  return null;
end
$$;

create trigger deleted_workspaces_are_unfolded
  after delete on public.workspaces for each row execute function private.unfold_deleted_workspace();

-- The day up to which the days of a workspace are folded: `monthly_spend` and `weekly_totals` contain all earlier days. Without
-- a row, no day is folded.
create table public.spend_folds (
  workspace_id uuid primary key,
  folded_until date not null
);

alter table public.spend_folds enable row level security;
revoke all on public.spend_folds from anon, authenticated, service_role;
grant select on public.spend_folds to authenticated, outlay_key, service_role;

create policy "A member reads how far their workspaces are folded"
  on public.spend_folds for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "A key reads how far its workspace is folded"
  on public.spend_folds for select to outlay_key
  using (workspace_id = (select private.key_workspace()));

create policy "Nobody reads how far a deleted workspace is folded"
  on public.spend_folds as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- The daily sums of past days by month: what `daily_spend` has for all days of a month before `folded_until`, in one row.
create table public.monthly_spend (
  workspace_id uuid not null,
  month date not null,
  project_id uuid not null,
  api_key_id uuid,
  type text not null,
  provider text,
  model text,
  feature text,
  source text not null,
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  end_user text,
  tags text[],
  included_usd numeric not null default 0
);

create unique index monthly_spend_key on public.monthly_spend (
  workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
  (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
) nulls not distinct;
-- Narrow, because most reads are of all of a month.
create index monthly_spend_month_idx on public.monthly_spend (workspace_id, month, environment);
create index monthly_spend_project_idx on public.monthly_spend (workspace_id, project_id, month);
create index monthly_spend_user_idx on public.monthly_spend (workspace_id, end_user) where end_user is not null;

alter table public.monthly_spend enable row level security;
revoke all on public.monthly_spend from anon, authenticated, service_role;
grant select on public.monthly_spend to authenticated, outlay_key, service_role;

create policy "A member reads the monthly spend of their workspaces"
  on public.monthly_spend for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "A key reads the monthly spend of its environment and projects"
  on public.monthly_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace()) and environment = (select private.key_environment())
    and project_id = any ((array(select private.key_projects())))
  );

create policy "A key of users reads monthly spend of these alone"
  on public.monthly_spend as restrictive for select to outlay_key
  using (
    case when (select private.key_users()) is null then true
      else end_user = any ((select private.key_users())::text[]) end
  );

create policy "Nobody reads the monthly spend of a deleted workspace"
  on public.monthly_spend as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- Folding the days of a workspace takes this lock exclusively; changing sums of past days takes it shared. So each change is in
-- the folded sums exactly once.
create function private.fold_lock(workspace uuid)
returns bigint
language sql immutable set search_path = ''
return hashtextextended('outlay.fold ' || workspace, 0);

-- Adds changes of the daily sums to the folded sums: those of days that are folded.
create function private.add_folded_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $function$
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
end
$function$;

-- Folds the past days of a workspace, at most to the end of a month.
--
-- returns: the number of sums that were folded; null where there is nothing to do
create function private.fold_past_days()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
#variable_conflict use_variable
declare
  past_until date := private.past_until(now());
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

  insert into public.spend_folds (workspace_id, folded_until) values (workspace, until_day)
  on conflict (workspace_id) do update set folded_until = excluded.folded_until;
  return folded;
end
$function$;
grant execute on function private.fold_past_days() to outlay_service, service_role;

-- Forgets the folded sums of a workspace. Its days are read one by one until they are folded again.
create function private.unfold_days(workspace uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  delete from public.spend_folds where workspace_id = workspace;
  delete from public.monthly_spend where workspace_id = workspace;
  delete from public.monthly_totals where workspace_id = workspace;
end
$function$;

-- The daily totals of past days by month: what `daily_totals` has for all days of a month before `folded_until`, in one row.
-- `weekly_totals` has the same days by week.
create table public.monthly_totals (
  workspace_id uuid not null,
  environment text not null,
  dimension text not null,
  first_day date not null,
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  included_usd numeric not null default 0,
  constraint monthly_totals_key unique nulls not distinct (workspace_id, environment, dimension, first_day, value, type)
);

-- A month summary reads the folded days of the month from `monthly_totals`: a row for each project and type, in place of a row for
-- each day of these.
alter table public.monthly_totals enable row level security;
revoke all on public.monthly_totals from anon, authenticated, service_role;
grant select on public.monthly_totals to authenticated, outlay_key, service_role;

create policy "A member reads the monthly totals of their workspaces"
  on public.monthly_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the monthly totals of a deleted workspace"
  on public.monthly_totals as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- As of daily totals.
create policy "A key reads the monthly totals whose whole spend it may read"
  on public.monthly_totals for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and
case
    when (select private.key_is_unconfined()) then true
    when (select private.key_users()) is not null then (select private.key_is_of_users()) and dimension = 'user' and (value = any ((select private.key_users())::text[]))
    when dimension = 'project' then (value::uuid in (select private.key_projects()))
    when dimension = 'key' then value = (( select private.key_claims() ->> 'id'))
    else false
end);

-- What processes of the version before read until they are replaced: weeks are summed from days, and no month has slices. A later
-- migration drops both views.
create view public.weekly_totals with (security_invoker = true) as
  select t.workspace_id, t.environment, t.dimension,
    greatest(date_trunc('week', t.day::timestamp), date_trunc('month', t.day::timestamp))::date as first_day, t.value, t.type,
    sum(t.amount_usd) as amount_usd, sum(t.message_count) as message_count, sum(t.unpriced_count) as unpriced_count,
    sum(t.included_usd) as included_usd
  from public.daily_totals as t
  join public.spend_folds as f on f.workspace_id = t.workspace_id and t.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6;
revoke all on public.weekly_totals from anon, authenticated, service_role;
grant select on public.weekly_totals to authenticated, service_role;

-- Processes of the version before read it during an upgrade: no month is sliced.
create view public.sliced_months with (security_invoker = true) as
  select f.workspace_id, f.folded_until as month, 'changed' as state, '{}'::text[] as slices from public.spend_folds as f where false;
revoke all on public.sliced_months from anon, authenticated, service_role;
grant select on public.sliced_months to authenticated, service_role;

-- The day before which days are past: twelve hours after the day that follows them has ended. By then, every transaction that
-- treated such a day as present has ended (see `private.add_daily_spend`).
create function private.past_until(at timestamptz)
 returns date
 language sql
 stable
 set search_path to ''
return ((at - interval '12 hours') at time zone 'UTC')::date - 1;
