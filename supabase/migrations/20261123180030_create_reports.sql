-- Weekly reports by mail.

-- The first instant after another at which the clocks of a time zone show a time, on any day or on one weekday (1 is
-- Monday). A time that clocks skip in spring is as much later as they go forward; one that they show twice in autumn is
-- the second. So each local day has exactly one.
create function private.next_local_time(after timestamptz, zone text, at_time time, weekday integer)
returns timestamptz
language sql stable set search_path = ''
as $$
  select min(candidate.instant)
  from generate_series(-1, 15) as ahead
  cross join lateral (select (after at time zone zone)::date + ahead as day) as local
  cross join lateral (select (local.day + at_time) at time zone zone as instant) as candidate
  where candidate.instant > after and (weekday is null or extract(isodow from local.day) = weekday)
$$;

-- Who receives the weekly report of a workspace by mail: each member decides for themselves. It is sent on Mondays at eight
-- in the member's time zone, about the week that ended there.
create table public.weekly_reports (
  workspace_id uuid not null,
  user_id uuid not null default auth.uid(),
  time_zone text not null check (char_length(time_zone) between 1 and 64),
  next_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);

create index weekly_reports_next_at_idx on public.weekly_reports (next_at);

alter table public.weekly_reports enable row level security;
revoke all on public.weekly_reports from anon, authenticated, service_role;
grant delete, select on public.weekly_reports to authenticated;
grant select on public.weekly_reports to service_role;
grant insert (workspace_id, time_zone), update (time_zone) on public.weekly_reports to authenticated;

create policy "A member reads which weekly reports they receive"
  on public.weekly_reports for select to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member subscribes to the weekly report"
  on public.weekly_reports for insert to authenticated
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member changes the time zone of their weekly report"
  on public.weekly_reports for update to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()))
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member ends their weekly report"
  on public.weekly_reports for delete to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

-- Plans the next report. A zone that Postgres does not know would make the job fail.
create function private.plan_weekly_report()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  new.next_at := private.next_local_time(clock_timestamp(), new.time_zone, '08:00', 1);
  return new;
end
$$;

create trigger weekly_reports_are_planned before insert or update of time_zone on public.weekly_reports
  for each row execute function private.plan_weekly_report();

-- The mails to send: one per member and week, whatever the number of processes. Weeks begin on Monday.
create table private.weekly_report_mails (
  workspace_id uuid not null,
  user_id uuid not null,
  week date not null check (extract(isodow from week) = 1),
  state text not null default 'pending' check (state in ('pending', 'sent', 'dead')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- After this time, a failure is final.
  give_up_at timestamptz not null default now() + interval '3 days',
  -- The process that sends it, and until when no other one does.
  lease uuid,
  leased_until timestamptz,
  last_error text check (char_length(last_error) <= 500),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id, week),
  foreign key (workspace_id, user_id) references public.weekly_reports (workspace_id, user_id) on delete cascade
);

create index weekly_report_mails_pending_idx on private.weekly_report_mails (next_attempt_at) where state = 'pending';

alter table private.weekly_report_mails enable row level security;
revoke all on private.weekly_report_mails from anon, authenticated, service_role;

-- Hashes of the secrets in the links of mails by which their readers end the report. They work for a year.
create table private.report_links (
  secret_hash bytea primary key check (octet_length(secret_hash) = 32),
  workspace_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  foreign key (workspace_id, user_id) references public.weekly_reports (workspace_id, user_id) on delete cascade
);

create index report_links_reader_idx on private.report_links (workspace_id, user_id, created_at);

alter table private.report_links enable row level security;
revoke all on private.report_links from anon, authenticated, service_role;

-- Queues the reports that are due, and takes mails that are due, for as long as the lease lasts. A process that was away for
-- weeks sends the report of the last week only.
-- returns: [{ workspace_id, user_id, week, lease, attempts, time_zone, email, has_factor, workspace: { slug, name } }]
create function private.claim_weekly_reports(at_most integer, lease_seconds integer)
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
grant execute on function private.claim_weekly_reports(integer, integer) to outlay_service, service_role;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, user_id, week, lease, error: null where it was sent, retry_in_ms: null where another attempt is no use }
-- returns: the mail's state, or null where the lease was lost or the reader ended the report meanwhile
create function private.finish_weekly_report(ended jsonb)
returns text
language sql volatile security definer set search_path = ''
as $$
  update private.weekly_report_mails as m
  set state = case
      when ended ->> 'error' is null then 'sent'
      when ended ->> 'retry_in_ms' is null or clock_timestamp() >= m.give_up_at then 'dead'
      else 'pending'
    end,
    next_attempt_at = least(
      clock_timestamp() + coalesce((ended ->> 'retry_in_ms')::bigint, 0) * interval '1 millisecond', m.give_up_at
    ),
    lease = null, leased_until = null, last_error = left(ended ->> 'error', 500)
  where m.workspace_id = (ended ->> 'workspace_id')::uuid and m.user_id = (ended ->> 'user_id')::uuid
    and m.week = (ended ->> 'week')::date and m.lease = (ended ->> 'lease')::uuid
  returning m.state
$$;
grant execute on function private.finish_weekly_report(jsonb) to outlay_service, service_role;

-- Keeps the hash of the secret in a mail's link. Old mails of the week's report are removed with old links.
create function private.add_report_link(workspace uuid, reader uuid, secret_hash bytea)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.report_links as l
  where l.workspace_id = workspace and l.user_id = reader and l.created_at < now() - interval '1 year';
  delete from private.weekly_report_mails as m
  where m.workspace_id = workspace and m.user_id = reader and m.week < current_date - 365;
  insert into private.report_links (secret_hash, workspace_id, user_id)
  select add_report_link.secret_hash, r.workspace_id, r.user_id
  from public.weekly_reports as r
  where r.workspace_id = workspace and r.user_id = reader
  for key share;
end
$$;
grant execute on function private.add_report_link(uuid, uuid, bytea) to outlay_service, service_role;

-- Ends the report that a mail's link belongs to; no role of users may ask who that is.
create function private.end_weekly_report(secret_hash bytea)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from public.weekly_reports as r
  using private.report_links as l
  where l.secret_hash = end_weekly_report.secret_hash and l.created_at > now() - interval '1 year'
    and r.workspace_id = l.workspace_id and r.user_id = l.user_id
$$;
grant execute on function private.end_weekly_report(bytea) to outlay_service, service_role;
