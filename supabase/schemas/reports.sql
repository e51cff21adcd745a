-- Weekly reports by mail.

-- The first instant after another at which the clocks of a time zone show a time, on any day or on one weekday (1 is Monday).
-- If clocks skip the time in spring, the instant is later by the hour that they skip. If they show it twice in autumn, it is
-- the second instant. So each local day has exactly one.
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

-- Keeps the hash of the secret in a mail's link, and removes old links.
create function private.add_report_link(workspace uuid, reader uuid, secret_hash bytea)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.report_links as l
  where l.workspace_id = workspace and l.user_id = reader and l.created_at < now() - interval '1 year';
  insert into private.report_links (secret_hash, workspace_id, user_id)
  select add_report_link.secret_hash, r.workspace_id, r.user_id
  from public.weekly_reports as r
  where r.workspace_id = workspace and r.user_id = reader
  for key share;
end
$$;
grant execute on function private.add_report_link(uuid, uuid, bytea) to outlay_service, service_role;

-- Ends the report that a mail's link belongs to. No user role may read whose report that is.
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
