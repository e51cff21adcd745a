-- What is done beside requests leaves a deleted workspace alone: no charges, corrections, alerts, digests or reports until it is
-- undone. Each function is as before, but for the condition on `deleted_at`.

create or replace function private.lock_due_subscriptions(today date, at_most integer)
 returns setof public.recurring_subscriptions
 language sql
 security definer
 set search_path = ''
as $$
  select * from public.recurring_subscriptions as s
  where next_on <= today
    and not exists (select from public.workspaces as w where w.id = s.workspace_id and w.deleted_at is not null)
  order by next_on
  limit at_most
  for update skip locked
$$;

create or replace function private.lock_next_repricing()
 returns setof public.repricings
 language sql
 security definer
 set search_path = ''
as $$
  select * from public.repricings as r
  where status <> 'done'
    and not exists (select from public.workspaces as w where w.id = r.workspace_id and w.deleted_at is not null)
  order by created_at, id
  limit 1
  for update skip locked
$$;

create or replace function private.claim_channel_notices(at_most integer)
 returns jsonb
 language sql
 security definer
 set search_path = ''
as $$
  with due as (
    select c.workspace_id, c.id
    from public.alert_channels as c
    where c.tell_owners_at <= clock_timestamp()
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.tell_owners_at
    limit at_most
    for no key update skip locked
  ), claimed as (
    update public.alert_channels as c
    set tell_owners_at = case
      when c.disabled_at > clock_timestamp() - interval '3 days' then clock_timestamp() + interval '10 minutes'
    end
    from due
    where c.workspace_id = due.workspace_id and c.id = due.id
    returning c.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', claimed.workspace_id,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object('id', claimed.id, 'name', claimed.name, 'kind', claimed.kind, 'target', claimed.target),
    'reason', claimed.disabled_reason,
    'failing_since', claimed.failing_since,
    'owners', (
      select coalesce(jsonb_agg(p.email order by p.email), '[]')
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = claimed.workspace_id and m.role = 'owner'
    )
  )), '[]')
  from claimed
  join public.workspaces as w on w.id = claimed.workspace_id
  where claimed.tell_owners_at is not null
$$;

create or replace function private.make_digests(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  made uuid;
  count integer := 0;
begin
  for channel in
    select c.* from public.alert_channels as c
    where c.next_digest_at <= at_moment and c.disabled_at is null
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.next_digest_at
    limit at_most
    for no key update skip locked
  loop
    made := null;
    insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, ordered_by, digest_at)
    select channel.workspace_id, channel.id, channel.name, channel.kind, 'digest', channel.next_digest_at
    where exists (
      select from public.alert_deliveries as d
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null
    )
    returning id into made;
    if made is not null then
      update public.alert_deliveries as d
      set digest_id = made
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null;
      count := count + 1;
    end if;
    update public.alert_channels as c
    set next_digest_at = case when c.cadence <> 'immediate' then private.next_local_time(
      at_moment, c.time_zone, c.digest_time, case when c.cadence = 'weekly' then c.digest_weekday end
    ) end
    where c.workspace_id = channel.workspace_id and c.id = channel.id;
  end loop;
  return count;
end
$$;

create or replace function private.claim_weekly_reports(at_most integer, lease_seconds integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with due as (
    select r.workspace_id, r.user_id
    from public.weekly_reports as r
    where r.next_at <= at_moment
      and not exists (select from public.workspaces as w where w.id = r.workspace_id and w.deleted_at is not null)
    order by r.next_at
    limit 1000
    for update skip locked
  ), planned as (
    update public.weekly_reports as r
    set next_at = private.next_local_time(at_moment, r.time_zone, '08:00', 1)
    from due
    where r.workspace_id = due.workspace_id and r.user_id = due.user_id
    returning r.workspace_id, r.user_id, r.time_zone
  )
  insert into private.weekly_report_mails (workspace_id, user_id, week, next_attempt_at, give_up_at)
  select workspace_id, user_id, date_trunc('week', at_moment at time zone time_zone)::date - 7, at_moment,
    at_moment + interval '3 days'
  from planned
  on conflict (workspace_id, user_id, week) do nothing;

  with locked as (
    select m.workspace_id, m.user_id, m.week
    from private.weekly_report_mails as m
    where m.state = 'pending' and m.next_attempt_at <= at_moment and (m.leased_until is null or m.leased_until <= at_moment)
      and not exists (select from public.workspaces as w where w.id = m.workspace_id and w.deleted_at is not null)
    order by m.next_attempt_at
    limit at_most
    for update skip locked
  ), claimed as (
    update private.weekly_report_mails as m
    set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second', attempts = m.attempts + 1
    from locked
    where m.workspace_id = locked.workspace_id and m.user_id = locked.user_id and m.week = locked.week
    returning m.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', claimed.workspace_id, 'user_id', claimed.user_id, 'week', claimed.week, 'lease', claimed.lease,
    'attempts', claimed.attempts, 'time_zone', r.time_zone, 'email', p.email,
    'has_factor', private.has_verified_factor(claimed.user_id),
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name)
  )), '[]')
  into taken
  from claimed
  join public.weekly_reports as r on r.workspace_id = claimed.workspace_id and r.user_id = claimed.user_id
  join public.profiles as p on p.id = claimed.user_id
  join public.workspaces as w on w.id = claimed.workspace_id;
  return taken;
end
$$;

-- Whatever judges the rules of alerts, nothing is raised in a deleted workspace and no state changes, so that an undo finds
-- them as they were. The last step of the erasure deletes the states.
create function private.leave_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  at_stake uuid := case when tg_op = 'DELETE' then old.workspace_id else new.workspace_id end;
begin
  if exists (
    select from public.workspaces as w
    where w.id = at_stake and w.deleted_at > now() - private.days_to_undo()
  ) then
    return null;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
revoke all on function private.leave_deleted_workspace() from public;

create trigger alerts_leave_deleted_workspaces
  before insert on public.alerts
  for each row execute function private.leave_deleted_workspace();

create trigger alert_states_leave_deleted_workspaces
  before insert or update or delete on public.alert_states
  for each row execute function private.leave_deleted_workspace();
