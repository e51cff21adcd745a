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
  -- Recorded, so that it is not told later, but sent to nobody.
  is_quiet boolean not null default false,
  -- The figures when it fired; money is exact decimal text.
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
  fired_at timestamptz not null default now(),
  state text not null default 'alert' check (state in ('ok', 'warning', 'alert')),
  -- Why nobody was told of a quiet alert.
  quiet_reason text check (quiet_reason in ('was_above', 'snoozed', 'rule_off', 'start_untold')),
  rearmed_at timestamptz,
  primary key (workspace_id, id),
  constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source'
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

-- The queue of what is sent, and for 30 days the log of what was. The id is sent along, so that a receiver recognises
-- what it received before. The channel's name and kind stay when the channel is deleted.
create table public.alert_deliveries (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  number bigint generated always as identity,
  channel_id uuid not null,
  channel_name text not null,
  channel_kind text not null,
  -- Null: a test of the channel.
  alert_id uuid,
  -- A channel's deliveries of one rule and subject are sent in order: one that waits holds the later ones back.
  ordered_by text,
  state text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- After this time, a failure is final.
  give_up_at timestamptz not null default now() + interval '3 days',
  -- The process that sends it, and until when no other one does.
  lease uuid,
  leased_until timestamptz,
  -- The status of the last response, and what went wrong. Without secrets.
  last_status integer,
  last_error text check (char_length(last_error) <= 500),
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  digest_at timestamptz,
  digest_id uuid,
  primary key (workspace_id, id),
  foreign key (workspace_id, alert_id) references public.alerts (workspace_id, id) on delete cascade,
  check ((lease is null) = (leased_until is null)),
  constraint alert_deliveries_state_check
    check (state in ('pending', 'delivered', 'dead', 'cancelled', 'collected')),
  constraint alert_deliveries_digest_id_fkey foreign key (workspace_id, digest_id)
    references public.alert_deliveries (workspace_id, id) on delete cascade,
  constraint alert_deliveries_tell_one_thing check (alert_id is null or digest_at is null),
  constraint alert_deliveries_of_digests_tell_alerts check (digest_id is null or (alert_id is not null and state = 'collected'))
);

create index alert_deliveries_ordered_idx on public.alert_deliveries (channel_id, ordered_by, number)
  where state = 'pending' and ordered_by is not null;
create index alert_deliveries_waiting_idx on public.alert_deliveries (created_at) where state = 'pending';
create index alert_deliveries_alert_idx on public.alert_deliveries (workspace_id, alert_id);
create index alert_deliveries_log_idx on public.alert_deliveries (workspace_id, channel_id, number desc);
create index alert_deliveries_created_at_idx on public.alert_deliveries (created_at);
-- Each digest is made once, whatever the number of processes.
create unique index alert_deliveries_digest_at_key on public.alert_deliveries (channel_id, digest_at) where digest_at is not null;
create index alert_deliveries_collected_idx on public.alert_deliveries (channel_id, number)
  where state = 'collected' and digest_id is null;
create index alert_deliveries_digest_idx on public.alert_deliveries (workspace_id, digest_id) where digest_id is not null;
create index alert_deliveries_pending_idx on public.alert_deliveries (channel_id, next_attempt_at, number)
  where state = 'pending';
create index alert_deliveries_leased_idx on public.alert_deliveries (channel_id, leased_until) where lease is not null;

alter table public.alert_deliveries enable row level security;
revoke all on public.alert_deliveries from anon, authenticated, service_role;
revoke all on sequence public.alert_deliveries_number_seq from anon, authenticated, service_role;
grant select on public.alert_deliveries to authenticated, service_role;

create policy "A member reads the alert deliveries of their workspaces"
  on public.alert_deliveries for select to authenticated
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
