-- Subscriptions that book each following period by themselves. The first charge is the message with the same id.
create table public.recurring_subscriptions (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  source text not null,
  environment text not null check (environment in ('live', 'test')),
  -- The message as it was posted; each period is charged as it says.
  message jsonb not null,
  period text not null check (period in ('month', 'year')),
  anchor_on date not null,
  ends_on date,
  booked_periods integer not null default 1 check (booked_periods >= 1),
  -- The first day of the next period that is not booked; null when there is none to come.
  next_on date,
  stopped_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references public.projects (workspace_id, id)
);
create index recurring_subscriptions_due_idx on public.recurring_subscriptions (next_on) where next_on is not null;
create index recurring_subscriptions_project_idx on public.recurring_subscriptions (workspace_id, project_id);

alter table public.recurring_subscriptions enable row level security;
revoke all on public.recurring_subscriptions from anon, authenticated, service_role;
grant select on public.recurring_subscriptions to authenticated;
grant all on public.recurring_subscriptions to service_role;

create policy "A member reads the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Remembers subscriptions that are to go on, in the transaction of their first charge.
create function private.start_subscriptions(subscriptions jsonb)
returns void
language sql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
  insert into public.recurring_subscriptions (
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, next_on, created_at
  )
  select workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, next_on, created_at
  from jsonb_to_recordset(subscriptions) as s (
    workspace_id uuid, id uuid, project_id uuid, api_key_id uuid, source text, environment text, message jsonb,
    period text, anchor_on date, ends_on date, next_on date, created_at timestamptz
  )
$$;

-- Subscriptions with a period that has begun and is not booked, locked for the caller. What another process is booking
-- at the moment is left to it.
create function private.lock_due_subscriptions(today date, at_most integer)
returns setof public.recurring_subscriptions
language sql volatile security definer set search_path = ''
as $$
  select * from public.recurring_subscriptions
  where next_on <= today
  order by next_on
  limit at_most
  for update skip locked
$$;

create function private.advance_subscription(workspace uuid, subscription uuid, booked integer, next_day date)
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.recurring_subscriptions
  set booked_periods = booked, next_on = next_day
  where workspace_id = workspace and id = subscription
$$;

revoke all on function private.start_subscriptions(jsonb), private.lock_due_subscriptions(date, integer),
  private.advance_subscription(uuid, uuid, integer, date) from public;
grant execute on function private.start_subscriptions(jsonb), private.lock_due_subscriptions(date, integer),
  private.advance_subscription(uuid, uuid, integer, date) to outlay_service, service_role;

-- What projects have spent in ranges of days, as allocations by percentage need it.
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create function private.load_project_spend(wanted jsonb)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0)::text
  )), '[]')
  from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
$$;
revoke all on function private.load_project_spend(jsonb) from public;
grant execute on function private.load_project_spend(jsonb) to outlay_service, service_role;
