-- The queue of everything that is sent to people and their programs: alerts, digests, tests of channels, and mails.

-- Each row is sent once, and tried again until it has arrived. The id is sent along, so that a receiver recognises what it
-- received before. Deliveries to channels stay for 30 days as the channel's log, with the channel's name and kind also after it
-- is deleted.
create table public.deliveries (
  id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  kind text not null check (kind in (
    'alert', 'alert_mail', 'digest', 'test', 'budget_request', 'budget_request_mail', 'weekly_report', 'channel_off',
    'workspace_deleted', 'workspace_restored', 'account_deleted', 'account_restored'
  )),
  -- Null: a mail about a deletion, which concerns the recipient.
  workspace_id uuid references public.workspaces (id) on delete cascade,
  -- An alert, a digest or a test. `digest_at`: when the digest was planned; `digest_id`: the digest that an alert was sent with.
  channel_id uuid,
  channel_name text,
  channel_kind text,
  alert_id uuid,
  digest_at timestamptz,
  digest_id uuid,
  -- A weekly report, about the week that begins on this Monday.
  reader_id uuid,
  week date check (extract(isodow from week) = 1),
  -- Another mail: to this address, or about the channel in its details to the workspace's owners. Of a budget request: what it was
  -- when this was queued.
  recipient text,
  details jsonb,
  -- Deliveries of one lane share its places: those of a channel, or of one kind of mail.
  lane text not null generated always as (coalesce(channel_id::text, kind)) stored,
  -- Of a lane's deliveries with the same, one that waits holds the later ones back: those of one rule and subject.
  ordered_by text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead', 'cancelled', 'collected')),
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
  -- An alert by mail to a member whom the budget names, or a mail about a budget request.
  member_id uuid,
  unique (workspace_id, id),
  foreign key (workspace_id, alert_id) references public.alerts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, digest_id) references public.deliveries (workspace_id, id) on delete cascade,
  foreign key (workspace_id, reader_id) references public.weekly_reports (workspace_id, user_id) on delete cascade,
  check ((lease is null) = (leased_until is null)),
  check ((kind in ('alert', 'digest', 'test', 'budget_request')) = (channel_id is not null)),
  check ((kind in ('alert', 'alert_mail')) = (alert_id is not null) and (kind = 'digest') = (digest_at is not null)),
  check (digest_id is null or state = 'collected' and alert_id is not null),
  constraint deliveries_to_members_name_them check ((kind in ('alert_mail', 'budget_request_mail')) = (member_id is not null)),
  constraint deliveries_member_fkey foreign key (workspace_id, member_id)
    references public.workspace_members (workspace_id, user_id) on delete cascade
);

create index deliveries_pending_idx on public.deliveries (lane, next_attempt_at, number) where state = 'pending';
create index deliveries_leased_idx on public.deliveries (lane, leased_until) where lease is not null;
create index deliveries_ordered_idx on public.deliveries (lane, ordered_by, number)
  where state = 'pending' and ordered_by is not null;
create index deliveries_waiting_idx on public.deliveries (created_at) where state = 'pending';
create index deliveries_created_at_idx on public.deliveries (created_at);
create index deliveries_mails_idx on public.deliveries (give_up_at) where channel_id is null;
create index deliveries_member_idx on public.deliveries (workspace_id, member_id) where member_id is not null;
create index deliveries_alert_idx on public.deliveries (workspace_id, alert_id);
create index deliveries_log_idx on public.deliveries (workspace_id, channel_id, number desc);
create index deliveries_collected_idx on public.deliveries (channel_id, number)
  where state = 'collected' and digest_id is null;
create index deliveries_digest_idx on public.deliveries (workspace_id, digest_id) where digest_id is not null;
-- Each digest and each report is made once, whatever the number of processes.
create unique index deliveries_digest_at_key on public.deliveries (channel_id, digest_at) where digest_at is not null;
create unique index deliveries_week_key on public.deliveries (workspace_id, reader_id, week) where reader_id is not null;

alter table public.deliveries enable row level security;
revoke all on public.deliveries from anon, authenticated, service_role;
revoke all on sequence public.deliveries_number_seq from anon, authenticated, service_role;
grant select on public.deliveries to authenticated, service_role;

create policy "A member reads which alerts of their workspaces were sent"
  on public.deliveries for select to authenticated
  using ((channel_id is not null or member_id is not null) and workspace_id in (select private.member_workspaces()));

-- An alert as what sends it needs it.
create function private.describe_alert(a public.alerts)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
      'id', a.id, 'rule', a.rule, 'state', a.state, 'level', a.level, 'period', a.period, 'subject_type', a.subject_type,
      'subject_id', a.subject_id, 'details', a.details, 'fired_at', a.fired_at,
      -- A budget stores its project by id; links name projects by slug.
      'project_slug', (
        select p.slug from public.projects as p
        where p.workspace_id = a.workspace_id and a.details ->> 'scope_type' = 'project'
          and a.details ->> 'scope_value' in (p.id::text, p.slug)
        limit 1
      )
  )
$$;

-- A delivery's channel, with its secrets.
create function private.describe_channel(d public.deliveries)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
    'address', s.address, 'has_buttons', private.takes_clicks(s),
    'signing_secrets', case when s.signing_secret is null then '[]' else
      jsonb_build_array(s.signing_secret)
      || case when s.old_ends_at > clock_timestamp() then jsonb_build_array(s.old_signing_secret) else '[]' end
    end,
    -- Mail goes to people who are members now.
    'recipients', case when c.kind = 'email' then (
      select coalesce(jsonb_agg(p.email order by p.email), '[]')
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = d.workspace_id and lower(p.email) = any (string_to_array(c.target, ', '))
    ) else '[]' end
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$$;

-- What a process needs to send a delivery.
-- returns: { id, kind, lease, attempts, workspace_id, workspace, recipient, details } and, by its kind:
--   of a channel: `channel` with its secrets, `alert`, and `digest` with the channel's time zone, the count of its alerts and
--   the newest hundred. `report`: its reader, and its week. `off`: the channel that was turned off, and the owners to notify;
--   null where it is on again. `member`: the address of the member to whom it is sent; null where they have left
create function private.describe_delivery(d public.deliveries)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'id', d.id, 'kind', d.kind, 'lease', d.lease, 'attempts', d.attempts, 'workspace_id', d.workspace_id, 'recipient', d.recipient,
    'details', d.details,
    'workspace', (select jsonb_build_object('slug', w.slug, 'name', w.name) from public.workspaces as w where w.id = d.workspace_id)
  ) || case d.kind
    when 'weekly_report' then jsonb_build_object('report', (
      select jsonb_build_object(
        'user_id', r.user_id, 'week', d.week, 'time_zone', r.time_zone, 'email', p.email,
        'has_factor', private.has_verified_factor(r.user_id)
      )
      from public.weekly_reports as r
      join public.profiles as p on p.id = r.user_id
      where r.workspace_id = d.workspace_id and r.user_id = d.reader_id
    ))
    when 'channel_off' then jsonb_build_object('off', (
      select jsonb_build_object(
        'name', c.name, 'kind', c.kind, 'target', c.target, 'reason', c.disabled_reason, 'failing_since', c.failing_since,
        'owners', (
          select coalesce(jsonb_agg(p.email order by p.email), '[]')
          from public.workspace_members as m
          join public.profiles as p on p.id = m.user_id
          where m.workspace_id = c.workspace_id and m.role = 'owner'
        )
      )
      from public.alert_channels as c
      where c.workspace_id = d.workspace_id and c.id = (d.details ->> 'channel_id')::uuid
        and c.disabled_reason in ('failing', 'gone')
    ))
    when 'alert' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', (
      select private.describe_alert(a) from public.alerts as a where a.workspace_id = d.workspace_id and a.id = d.alert_id
    ))
    when 'alert_mail' then jsonb_build_object(
      'member', (
        select p.email
        from public.workspace_members as m
        join public.profiles as p on p.id = m.user_id
        where m.workspace_id = d.workspace_id and m.user_id = d.member_id
      ),
      'alert', (select private.describe_alert(a) from public.alerts as a where a.workspace_id = d.workspace_id and a.id = d.alert_id)
    )
    when 'test' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', null)
    when 'budget_request' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', null)
    when 'budget_request_mail' then jsonb_build_object('member', (
      select p.email
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = d.workspace_id and m.user_id = d.member_id
    ))
    when 'digest' then jsonb_build_object('channel', private.describe_channel(d), 'alert', null, 'digest', (
      select jsonb_build_object(
        'time_zone', (select c.time_zone from public.alert_channels as c where c.workspace_id = d.workspace_id and c.id = d.channel_id),
        'count', count(*),
        'alerts', coalesce(jsonb_agg(private.describe_alert(a) order by a.number desc) filter (where listed.place <= 100), '[]')
      )
      from (
        select m.alert_id, row_number() over (order by m.number desc) as place
        from public.deliveries as m
        where m.workspace_id = d.workspace_id and m.digest_id = d.id
      ) as listed
      join public.alerts as a on a.workspace_id = d.workspace_id and a.id = listed.alert_id
    ))
    else '{}'
  end
$function$;

-- Queues a test of a channel and takes it at once, for an admin who waits for its outcome. It is tried once.
-- returns: as describe_delivery
create function private.begin_channel_test(workspace uuid, channel uuid, lease_seconds integer)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  queued public.deliveries;
begin
  perform private.require_admin_of(workspace);
  insert into public.deliveries
    (workspace_id, kind, channel_id, channel_name, channel_kind, attempts, give_up_at, lease, leased_until)
  select c.workspace_id, 'test', c.id, c.name, c.kind, 1, now(), gen_random_uuid(), now() + lease_seconds * interval '1 second'
  from public.alert_channels as c
  where c.workspace_id = workspace and c.id = channel
  returning * into queued;
  return case when queued.id is not null then private.describe_delivery(queued) end;
end
$$;
grant execute on function private.begin_channel_test(uuid, uuid, integer) to outlay_service, service_role;

-- Queues a dead delivery again, for another three days.
-- returns: null where it is queued, otherwise why not: 'not_dead', or 'disabled' (the channel is, or was deleted)
create function private.resend_delivery(workspace uuid, delivery uuid)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  -- An alert that was sent with a digest is sent again with it.
  whole uuid := (
    select coalesce(digest_id, id) from public.deliveries where workspace_id = workspace and id = delivery
  );
  of_channel uuid := (select channel_id from public.deliveries where workspace_id = workspace and id = delivery);
begin
  perform private.require_admin_of(workspace);
  if of_channel is not null then
    perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
    if not found then
      return 'disabled';
    end if;
  end if;
  update public.deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = whole and state = 'dead'
    and kind in ('alert', 'alert_mail', 'digest', 'budget_request');
  return case when not found then 'not_dead' end;
end
$function$;
grant execute on function private.resend_delivery(uuid, uuid) to outlay_service, service_role;

-- Cancels the deliveries that a channel has not sent, and the alerts that it has collected. A delivery that is being sent right
-- now completes.
create function private.cancel_deliveries(workspace uuid, channel uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.deliveries as d
  set state = 'cancelled'
  where d.channel_id = channel and d.workspace_id = workspace and d.lease is null
    and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
$function$;
