-- Alerts: what was noticed, and who has seen it.

-- What fired: each threshold of a budget once in each of its periods, whatever the number of processes, retries and
-- corrections. Written by private.raise_alerts only, and kept.
create table public.alerts (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  -- Alerts in the order in which they were recorded.
  number bigint generated always as identity,
  rule text not null,
  subject_type text not null,
  subject_id text not null check (char_length(subject_id) between 1 and 256),
  -- The first day of the budget's period.
  period date not null,
  -- The threshold, in percent: 80.
  level text not null check (char_length(level) between 1 and 64),
  -- Recorded, so that it is not sent later, but sent to nobody.
  is_quiet boolean not null default false,
  -- The figures when it fired; money is exact decimal text.
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
  fired_at timestamptz not null default now(),
  state text not null default 'alert' check (state in ('ok', 'warning', 'alert')),
  -- Why a quiet alert was sent to nobody.
  quiet_reason text check (quiet_reason in ('was_above', 'snoozed', 'rule_off', 'start_untold')),
  rearmed_at timestamptz,
  primary key (workspace_id, id),
  constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit', 'refused_costs'
  )),
  constraint alerts_subject_type_check check (subject_type in ('budget', 'workspace', 'key', 'model', 'source')),
  constraint alerts_of_which_nobody_is_told_are_quiet check (quiet_reason is null or is_quiet),
  constraint alerts_fire_once_for_a_limit
  unique nulls not distinct (workspace_id, rule, subject_id, period, level, rearmed_at)
);
comment on column public.alerts.rearmed_at is 'Since when the level can fire again, for another limit; null while it cannot';

create index alerts_recent_idx on public.alerts (workspace_id, number desc);
create index alerts_fired_idx on public.alerts using brin (fired_at);

alter table public.alerts enable row level security;
revoke all on public.alerts from anon, authenticated, service_role;
revoke all on sequence public.alerts_number_seq from anon, authenticated, service_role;
grant select on public.alerts to authenticated, service_role;

create policy "A member reads the alerts of their workspaces"
  on public.alerts for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- How far each member has looked at the alerts of a workspace: alerts with a higher number are new to them. A member
-- without a row has looked at none; what fired before they joined is not new to them.
create table public.seen_alerts (
  workspace_id uuid not null,
  user_id uuid not null default auth.uid(),
  seen_number bigint not null check (seen_number >= 0),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);

alter table public.seen_alerts enable row level security;
revoke all on public.seen_alerts from anon, authenticated, service_role;
grant select on public.seen_alerts to authenticated, service_role;
grant insert (workspace_id, seen_number), update (seen_number) on public.seen_alerts to authenticated;

create policy "A member reads how far they looked"
  on public.seen_alerts for select to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member notes how far they looked"
  on public.seen_alerts for insert to authenticated
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member notes that they looked further"
  on public.seen_alerts for update to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()))
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));
