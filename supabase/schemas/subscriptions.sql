-- Charges that recur.

-- Subscriptions whose further periods are booked automatically. The first charge is the message with the same id.
create table public.recurring_subscriptions (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  source text not null,
  environment text not null check (environment in ('live', 'test')),
  -- The message as it was posted. Each period is charged by it.
  message jsonb not null,
  period text not null check (period in ('month', 'year')),
  anchor_on date not null,
  ends_on date,
  booked_periods integer not null default 1 check (booked_periods >= 1),
  -- The first day of the next period that is not booked; null if there is none.
  next_on date,
  stopped_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references public.projects (workspace_id, id)
);
comment on column public.recurring_subscriptions.api_key_id is 'The key that posted it. Periods that are booked later are the workspace''s own and carry no key.';

create index recurring_subscriptions_due_idx on public.recurring_subscriptions (next_on) where next_on is not null;
create index recurring_subscriptions_project_idx on public.recurring_subscriptions (workspace_id, project_id);

alter table public.recurring_subscriptions enable row level security;
revoke all on public.recurring_subscriptions from anon, authenticated, service_role;
grant select on public.recurring_subscriptions to authenticated;
grant all on public.recurring_subscriptions to service_role;
grant update (next_on, stopped_at) on public.recurring_subscriptions to authenticated;

create policy "A member reads the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A member stops the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
    and stopped_at is not null and next_on is null
  );

create trigger stopped_subscriptions_are_audited
  after update on public.recurring_subscriptions
  for each row when (old.stopped_at is distinct from new.stopped_at)
  execute function private.audit_change('subscription');

-- A subscription is stopped at the current time, whatever time the statement gives, and only once.
create function private.date_stop()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.stopped_at := coalesce(old.stopped_at, now());
  return new;
end
$$;

create trigger stops_are_dated
  before update of stopped_at on public.recurring_subscriptions
  for each row when (new.stopped_at is not null)
  execute function private.date_stop();

-- Stores recurring subscriptions in the transaction of their first charges: that of the message and those of further
-- periods that have begun already. `booked_periods` counts all of them.
create function private.start_subscriptions(subscriptions jsonb)
returns void
language sql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
  insert into public.recurring_subscriptions (
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  )
  select
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  from jsonb_to_recordset(subscriptions) as s (
    workspace_id uuid, id uuid, project_id uuid, api_key_id uuid, source text, environment text, message jsonb,
    period text, anchor_on date, ends_on date, booked_periods integer, next_on date, created_at timestamptz
  )
$$;
grant execute on function private.start_subscriptions(jsonb) to outlay_service, service_role;

-- Background jobs skip a deleted workspace: no charges, corrections, alerts, digests or reports until the deletion is undone.
create function private.lock_due_subscriptions(today date, at_most integer)
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
grant execute on function private.lock_due_subscriptions(date, integer) to outlay_service, service_role;

create function private.advance_subscription(workspace uuid, subscription uuid, booked integer, next_day date)
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.recurring_subscriptions
  set booked_periods = booked, next_on = next_day
  where workspace_id = workspace and id = subscription
$$;
grant execute on function private.advance_subscription(uuid, uuid, integer, date) to outlay_service, service_role;

-- The recurring subscriptions of some workspaces of which a period begins before a day, for the job that forecasts budgets.
create function private.coming_subscriptions(workspaces uuid[], before date, at_most integer)
 returns setof public.recurring_subscriptions
 language sql
 stable security definer
 set search_path to ''
as $function$
  select * from public.recurring_subscriptions as s
  where s.workspace_id = any (workspaces) and s.next_on < before and s.environment = 'live'
  order by s.next_on, s.id
  limit at_most
$function$;
grant execute on function private.coming_subscriptions(uuid[], date, integer) to outlay_service, service_role;
