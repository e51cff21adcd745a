-- What fired: each threshold of a budget once in each of its periods, whatever the number of processes, retries and
-- corrections. Written by private.raise_alerts only, and kept.
create table public.alerts (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  -- Alerts in the order in which they were recorded.
  number bigint generated always as identity,
  rule text not null check (rule in ('budget_threshold')),
  subject_type text not null check (subject_type in ('budget')),
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
  primary key (workspace_id, id),
  unique (workspace_id, rule, subject_id, period, level)
);
create index alerts_recent_idx on public.alerts (workspace_id, number desc);

alter table public.alerts enable row level security;
revoke all on public.alerts from anon, authenticated, service_role;
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
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead', 'cancelled')),
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
  primary key (workspace_id, id),
  foreign key (workspace_id, alert_id) references public.alerts (workspace_id, id) on delete cascade,
  check ((lease is null) = (leased_until is null))
);
create index alert_deliveries_pending_idx on public.alert_deliveries (channel_id, next_attempt_at) where state = 'pending';
create index alert_deliveries_ordered_idx on public.alert_deliveries (channel_id, ordered_by, number)
  where state = 'pending' and ordered_by is not null;
create index alert_deliveries_leased_idx on public.alert_deliveries (channel_id) where lease is not null;
create index alert_deliveries_waiting_idx on public.alert_deliveries (created_at) where state = 'pending';
create index alert_deliveries_alert_idx on public.alert_deliveries (workspace_id, alert_id);
create index alert_deliveries_log_idx on public.alert_deliveries (workspace_id, channel_id, number desc);
create index alert_deliveries_created_at_idx on public.alert_deliveries (created_at);

alter table public.alert_deliveries enable row level security;
revoke all on public.alert_deliveries from anon, authenticated, service_role;
grant select on public.alert_deliveries to authenticated, service_role;

create policy "A member reads the alert deliveries of their workspaces"
  on public.alert_deliveries for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Records alerts that have not been recorded, in the order of the array, and queues each that is not quiet for the channels
-- that want it. Called in the transaction that made them true. A channel that the service disabled because it fails keeps
-- its queue: what fired is sent if somebody enables the channel in time.
--
-- Locks the workspace and the channels against deletion, so that a deletion at the same time cannot fail the transaction.
--
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, is_quiet, details }]
create function private.raise_alerts(raised jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  with fired as (
    insert into public.alerts as a (workspace_id, rule, subject_type, subject_id, period, level, is_quiet, details)
    select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, r.level, coalesce(r.is_quiet, false),
      coalesce(r.details, '{}')
    from rows from (
      jsonb_to_recordset(raised) as (
        workspace_id uuid, rule text, subject_type text, subject_id text, period date, level text, is_quiet boolean,
        details jsonb
      )
    ) with ordinality as r (workspace_id, rule, subject_type, subject_id, period, level, is_quiet, details, place)
    join public.workspaces as w on w.id = r.workspace_id
    order by r.place
    for key share of w
    on conflict (workspace_id, rule, subject_id, period, level) do nothing
    returning a.workspace_id, a.id, a.number, a.rule, a.subject_id, a.level, a.is_quiet
  )
  insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, alert_id, ordered_by)
  select c.workspace_id, c.id, c.name, c.kind, fired.id, fired.rule || ' ' || fired.subject_id
  from fired
  join public.alert_channels as c on c.workspace_id = fired.workspace_id
  where not fired.is_quiet
    and (c.disabled_at is null or c.disabled_reason = 'failing')
    and (c.rules is null or fired.rule = any (c.rules))
    and case
      when fired.level ~ '^\d{1,9}(\.\d{1,9})?$' then coalesce(fired.level::numeric >= c.least_percent, true)
      else true
    end
  order by fired.number
  for key share of c
$$;
revoke all on function private.raise_alerts(jsonb) from public;
grant execute on function private.raise_alerts(jsonb) to outlay_service, service_role;
