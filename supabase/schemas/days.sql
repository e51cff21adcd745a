-- The days of a workspace: those of its time zone, and the change of that zone.

-- The clock of a time zone at an instant. A cost of a day without a time, such as a subscription from the first of a month, is
-- recorded at midnight UTC: it is a cost of that day in every zone. So an instant of exactly midnight UTC is midnight everywhere.
create function private.local_time(instant timestamptz, zone text)
returns timestamp
language sql immutable
return case
    when zone = 'UTC' or (instant at time zone 'UTC')::time = '00:00' then instant at time zone 'UTC'
    else instant at time zone zone
  end;
grant execute on function private.local_time(timestamptz, text) to authenticated, outlay_key, outlay_service, service_role;

-- Whether an instant is on the days of a time zone from the first until before the second. The bounds are those of all zones, so
-- that Postgres can find the instants by an index.
create function private.is_on_days(instant timestamptz, zone text, first_day date, until_day date)
returns boolean
language sql immutable
return instant >= (first_day::timestamp - interval '14 hours') at time zone 'UTC'
    and instant < (until_day::timestamp + interval '12 hours') at time zone 'UTC'
    and private.local_time(instant, zone) >= first_day and private.local_time(instant, zone) < until_day;
grant execute on function private.is_on_days(timestamptz, text, date, date) to authenticated, outlay_key, outlay_service, service_role;

-- The time zone of a workspace. The caller has checked who asks.
create function private.time_zone_of(workspace uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select coalesce((select w.time_zone from public.workspaces as w where w.id = workspace), 'UTC')
$$;
grant execute on function private.time_zone_of(uuid) to outlay_key, outlay_service, service_role;

-- The adjustments of closed months, on the day of the workspace on which each is booked. They are part of that day's sums, but what they
-- adjust was used earlier: what asks how much a day usually costs takes them away. `occurred_at` chooses partitions.
create view public.daily_adjustments with (security_invoker = true) as
select m.workspace_id, m.environment, private.local_time(m.occurred_at, w.time_zone)::date as day, m.occurred_at, m.project_id,
  m.api_key_id, m.type, m.provider, m.model, m.feature, m.source, m.end_user, m.tags, m.amount_usd
from public.messages as m
join public.workspaces as w on w.id = m.workspace_id
where m.adjusts is not null;
revoke all on public.daily_adjustments from anon, authenticated, service_role;
grant select on public.daily_adjustments to authenticated, service_role;

-- A change of a workspace's time zone that is under way. The messages before `covered_until` are summed for the new zone: what the
-- sums will change by is kept as sums of the id `staging_id`, which is no workspace, so that no policy shows them. What is recorded
-- before that instant meanwhile is added to them, too. At last the difference is added to the sums of the workspace, in one transaction.
create table public.time_zone_changes (
  workspace_id uuid primary key references public.workspaces (id) on delete cascade,
  time_zone text not null,
  staging_id uuid not null unique default gen_random_uuid(),
  covered_until timestamptz not null default '-infinity',
  requested_by uuid default auth.uid() references public.profiles (id) on delete set null,
  requested_by_email text default auth.email(),
  requested_at timestamptz not null default now()
);

create index time_zone_changes_requested_by_idx on public.time_zone_changes (requested_by);

alter table public.time_zone_changes enable row level security;
revoke all on public.time_zone_changes from anon, authenticated, service_role;
grant select on public.time_zone_changes to authenticated, service_role;
grant insert (workspace_id, time_zone) on public.time_zone_changes to authenticated;

create policy "A member reads the change of their workspaces' zone"
  on public.time_zone_changes for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "An admin changes the time zone of their workspaces"
  on public.time_zone_changes for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create trigger changed_time_zones_exist before insert on public.time_zone_changes
  for each row execute function private.check_time_zone();

-- A closed month is one of the zone in which it was closed. Whoever closes one holds the same lock.
create function private.demand_open_books()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  if private.closed_until(new.workspace_id) is not null then
    raise exception 'a month is closed' using errcode = 'object_not_in_prerequisite_state';
  end if;
  return new;
end
$$;

create trigger time_zones_change_in_open_books before insert on public.time_zone_changes
  for each row execute function private.demand_open_books();

-- Who asked for which zone. That it is in use is logged with the change of the workspace.
create function private.audit_time_zone_request()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'workspace.time_zone_requested', 'workspace ' || new.workspace_id,
    jsonb_build_object('time_zone', new.time_zone), nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;

create trigger time_zone_requests_are_audited after insert on public.time_zone_changes
  for each row execute function private.audit_time_zone_request();

create function private.remove_staged_sums()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.daily_spend where workspace_id = old.staging_id;
  delete from public.daily_totals where workspace_id = old.staging_id;
  return null;
end
$$;

create trigger staged_sums_go_with_their_change after delete on public.time_zone_changes
  for each row execute function private.remove_staged_sums();

-- Where a posting is summed: on the day of its workspace; and, while a change of zone is under way and has come past it, added to the
-- day of the new zone and taken from that of the present one (`side` -1) among the staged sums. Whoever uses it holds the workspace's
-- lock (`hold_budgets`), so that the change waits. Without a security context of its own, so that Postgres merges it into statements.
create function private.places_of(workspace uuid, occurred_at timestamptz)
returns table (workspace_id uuid, day date, side integer)
language sql stable
begin atomic
  select workspace, private.local_time(occurred_at, coalesce((select w.time_zone from public.workspaces as w where w.id = workspace), 'UTC'))::date, 1
  union all
  select c.staging_id, private.local_time(occurred_at, of.zone)::date, of.side
  from public.time_zone_changes as c
  join public.workspaces as w on w.id = c.workspace_id
  cross join lateral (values (c.time_zone, 1), (w.time_zone, -1)) as of (zone, side)
  where c.workspace_id = workspace and occurred_at < c.covered_until
    and private.local_time(occurred_at, c.time_zone)::date <> private.local_time(occurred_at, w.time_zone)::date;
end;

-- Does one step of the oldest change of a time zone that no process is working on: sums the next messages for the new zone, so many
-- and all that occurred at the same instant; or, where all are summed, puts the new days in the place of the present ones. Recording
-- in the workspace waits while a step is done.
--
-- returns: how many postings or sums it changed, at least 1; null where there is nothing to do
create function private.change_time_zone_step(at_most integer)
returns integer
language plpgsql security definer set search_path = '' set "TimeZone" = 'UTC'
as $$
declare
  change public.time_zone_changes;
  workspace public.workspaces;
  covered timestamptz;
  changes public.daily_spend[];
  changed integer;
begin
  select c.* into change
  from public.time_zone_changes as c join public.workspaces as w on w.id = c.workspace_id
  where w.deleted_at is null
  order by c.requested_at, c.workspace_id
  limit 1
  for update of c skip locked;
  if change.workspace_id is null then
    return null;
  end if;
  -- Groups of calls hold this lock from the look-up of their keys until they are written (private.load_admission).
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || change.workspace_id, 0));
  select * into workspace from public.workspaces where id = change.workspace_id;

  if change.covered_until = 'infinity' then
    return private.switch_time_zone(change, workspace);
  end if;

  -- All lines of a batch occurred at one instant, and the index has the first of them.
  select case when count(*) < at_most then 'infinity' else max(next.occurred_at) + interval '1 microsecond' end into covered
  from (
    select m.occurred_at from public.messages as m
    where m.workspace_id = change.workspace_id and (m.part = 0 or m.type <> 'batch') and m.occurred_at >= change.covered_until
    order by m.occurred_at
    limit at_most
  ) as next;
  with listed as (
    select m.* from public.messages as m
    where m.workspace_id = change.workspace_id and (m.part = 0 or m.type <> 'batch')
      and m.occurred_at >= change.covered_until and m.occurred_at < covered
  ), postings as (
    select * from listed
    union all
    select line.*
    from listed
    join public.messages as line
      on line.workspace_id = change.workspace_id and line.id = listed.id and line.occurred_at = listed.occurred_at and line.part > 0
        -- From this, which is known beforehand, partitions are chosen.
        and line.occurred_at >= change.covered_until and line.occurred_at < covered
    where listed.type = 'batch' and listed.part = 0
  ), sums as (
    select private.local_time(p.occurred_at, of.zone)::date as day, p.project_id, p.api_key_id, p.type, p.provider, p.model,
      p.feature, p.source, p.environment, p.end_user, p.tags, sum(of.side * p.amount_usd) as amount_usd,
      coalesce(sum(of.side * private.sign_of(p.voids)) filter (where p.part = 0), 0) as message_count,
      sum(of.side * private.sign_of(p.voids)) as item_count,
      coalesce(sum(of.side * private.sign_of(p.voids)) filter (where p.cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(of.side * p.list_price_usd), 0) as included_usd
    from postings as p
    cross join lateral (values (change.time_zone, 1), (workspace.time_zone, -1)) as of (zone, side)
    where private.local_time(p.occurred_at, change.time_zone)::date <> private.local_time(p.occurred_at, workspace.time_zone)::date
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  )
  select array_agg(row(
    change.staging_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (select count(*) from postings)
  into changes, changed
  from sums;
  perform private.add_daily_spend(coalesce(changes, '{}'));
  update public.time_zone_changes set covered_until = covered where workspace_id = change.workspace_id;
  return greatest(changed, 1);
end
$$;
grant execute on function private.change_time_zone_step(integer) to outlay_service, service_role;

-- Replaces the sums of the present zone with those of the new one by adding the staged differences. Sums of removed messages keep
-- their days. The job folds the months again.
create function private.switch_time_zone(change public.time_zone_changes, workspace public.workspaces)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  changed integer;
begin
  perform private.unfold_days(workspace.id);

  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select
    workspace.id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  from public.daily_spend
  where workspace_id = change.staging_id
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
  get diagnostics changed = row_count;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select workspace.id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  from public.daily_totals
  where workspace_id = change.staging_id
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint daily_totals_key do update
    set amount_usd = total.amount_usd + excluded.amount_usd,
        message_count = total.message_count + excluded.message_count,
        unpriced_count = total.unpriced_count + excluded.unpriced_count,
        included_usd = total.included_usd + excluded.included_usd;

  -- Sums of a person may stand for messages and their voids, by which an erasure finds these: they stay.
  delete from public.daily_spend
  where workspace_id = workspace.id and end_user is null
    and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
  delete from public.daily_totals
  where workspace_id = workspace.id and environment in ('live', 'test')
    and dimension in ('project', 'key', 'provider', 'model', 'feature', 'tag')
    and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;

  update public.workspaces set time_zone = change.time_zone where id = workspace.id;
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after)
  select workspace.id, change.requested_by, change.requested_by_email, 'workspace.changed', 'workspace ' || workspace.id,
    to_jsonb(workspace), to_jsonb(w)
  from public.workspaces as w where w.id = workspace.id;
  delete from public.time_zone_changes where workspace_id = workspace.id;
  return greatest(changed, 1);
end
$$;
