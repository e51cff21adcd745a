-- One queue for everything that is sent: what waits in the three of before is carried over.

-- Since the migration before, no process takes anything from them. What was taken ends here first, so that it is not sent again:
-- a delivery or a report by its lease, a mail by the ten minutes that it was put off for.
do $$
begin
  while exists (select from public.alert_deliveries where leased_until > clock_timestamp())
    or exists (select from private.weekly_report_mails where leased_until > clock_timestamp())
    or exists (select from private.notices where next_attempt_at > clock_timestamp() + interval '580 seconds')
    or exists (select from public.alert_channels where tell_owners_at > clock_timestamp() + interval '580 seconds')
  loop
    perform pg_sleep(0.1);
  end loop;
end $$;

-- Whatever would write to them meanwhile fails, and is answered 503.
alter table public.alert_deliveries rename to former_deliveries;
alter table private.weekly_report_mails rename to former_reports;
alter table private.notices rename to former_notices;
drop trigger alert_deliveries_wait_for_digests on public.former_deliveries;

-- Each row is sent once, and tried again until it has arrived. The id is sent along, so that a receiver recognises what it
-- received before. What went to channels stays for 30 days, as their log; their name and kind stay when they are deleted.
create table public.deliveries (
  id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  kind text not null check (kind in (
    'alert', 'digest', 'test', 'weekly_report', 'channel_off',
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
  -- Another mail: to this address, or about the channel in its details to the workspace's owners.
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
  unique (workspace_id, id),
  foreign key (workspace_id, alert_id) references public.alerts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, digest_id) references public.deliveries (workspace_id, id) on delete cascade,
  foreign key (workspace_id, reader_id) references public.weekly_reports (workspace_id, user_id) on delete cascade,
  check ((lease is null) = (leased_until is null)),
  check ((kind in ('alert', 'digest', 'test')) = (channel_id is not null)),
  check ((kind = 'alert') = (alert_id is not null) and (kind = 'digest') = (digest_at is not null)),
  check (digest_id is null or state = 'collected' and alert_id is not null)
);

create index deliveries_pending_idx on public.deliveries (lane, next_attempt_at, number) where state = 'pending';
create index deliveries_leased_idx on public.deliveries (lane, leased_until) where lease is not null;
create index deliveries_ordered_idx on public.deliveries (lane, ordered_by, number)
  where state = 'pending' and ordered_by is not null;
create index deliveries_waiting_idx on public.deliveries (created_at) where state = 'pending';
create index deliveries_created_at_idx on public.deliveries (created_at);
create index deliveries_mails_idx on public.deliveries (give_up_at) where channel_id is null;
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

create policy "A member reads what channels of their workspaces were sent"
  on public.deliveries for select to authenticated
  using (channel_id is not null and workspace_id in (select private.member_workspaces()));

insert into public.deliveries (
  id, number, kind, workspace_id, channel_id, channel_name, channel_kind, alert_id, digest_at, digest_id, ordered_by, state, attempts,
  next_attempt_at, give_up_at, lease, leased_until, last_status, last_error, created_at, delivered_at
)
overriding system value
select id, number, case when alert_id is not null then 'alert' when digest_at is not null then 'digest' else 'test' end,
  workspace_id, channel_id, channel_name, channel_kind, alert_id, digest_at, digest_id, ordered_by, state, attempts,
  next_attempt_at, give_up_at, lease, leased_until, last_status, last_error, created_at, delivered_at
from public.former_deliveries;
select setval('public.deliveries_number_seq', (select coalesce(max(number), 0) + 1 from public.deliveries), false);

-- What was sent lately, too, so that it is not queued again.
insert into public.deliveries
  (kind, workspace_id, reader_id, week, state, attempts, next_attempt_at, give_up_at, lease, leased_until, last_error, created_at)
select 'weekly_report', workspace_id, user_id, week, case state when 'sent' then 'delivered' else state end, attempts,
  next_attempt_at, give_up_at, lease, leased_until, last_error, created_at
from private.former_reports
where state = 'pending' or week > current_date - 15;

insert into public.deliveries (id, kind, recipient, details, next_attempt_at, give_up_at)
select id, kind, recipient, details, next_attempt_at, give_up_at from private.former_notices;

insert into public.deliveries (kind, workspace_id, details, next_attempt_at, give_up_at)
select 'channel_off', workspace_id, jsonb_build_object('channel_id', id), tell_owners_at, disabled_at + interval '3 days'
from public.alert_channels
where tell_owners_at is not null and disabled_at is not null;

drop function private.describe_delivery(public.former_deliveries);
drop function private.finish_alert_delivery(jsonb);
drop function private.oldest_alert_delivery_seconds();
drop function private.note_owners_told(uuid, uuid);
drop function private.sweep_alert_deliveries(integer);
drop function private.make_digests(integer);
drop function private.finish_weekly_report(jsonb);
drop function private.forget_notice(uuid);
drop function private.resend_alert_delivery(uuid, uuid);
drop function private.cancel_alert_deliveries(uuid, uuid);
drop table public.former_deliveries;
drop table private.former_reports;
drop table private.former_notices;
alter table public.alert_channels drop column tell_owners_at;

-- Whether a workspace is deleted. It can be restored for thirty days.
create function private.is_deleted(workspace uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from public.workspaces as w where w.id = workspace and w.deleted_at is not null)
$$;
revoke execute on function private.is_deleted(uuid) from public;

-- A delivery's channel, with its secrets.
create function private.describe_channel(d public.deliveries)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
    'address', s.address,
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
revoke execute on function private.describe_channel(public.deliveries) from public;

-- What a process needs to send a delivery.
-- returns: { id, kind, lease, attempts, workspace_id, workspace, recipient, details } and, by its kind:
--   of a channel: `channel` with its secrets, `alert`, and `digest` with the channel's time zone, the count of its alerts and
--   the newest hundred. `report`: its reader, and its week. `off`: the channel that was turned off, and the owners to tell;
--   null where it is on again
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
    when 'test' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', null)
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
revoke execute on function private.describe_delivery(public.deliveries) from public;

-- Takes at most `places` deliveries that are due, and leases them; a report for three times as long, because it is read first. A
-- lane has at most `places_lane` leased deliveries, and a failing channel one. All failing channels together have at most
-- `places_failing`, so that receivers that hang do not delay the others. Of a lane's deliveries with the same order, only the
-- oldest is taken. Mails wait where they cannot be sent.
-- returns: as describe_delivery
create function private.claim_deliveries(
  places integer, places_failing integer, places_lane integer, lease_seconds integer, can_mail boolean
)
returns jsonb
language plpgsql security definer set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with recursive waiting as (
    -- The lanes with anything in the queue, each found by one look into the index.
    (select d.lane, d.channel_id from public.deliveries as d where d.state = 'pending' order by d.lane limit 1)
    union all
    select following.*
    from waiting
    cross join lateral (
      select d.lane, d.channel_id from public.deliveries as d
      where d.state = 'pending' and d.lane > waiting.lane
      order by d.lane limit 1
    ) as following
  ), candidates as (
    select due.at, due.next_attempt_at, c.failing_since is not null as is_failing,
      row_number() over (partition by waiting.lane order by due.next_attempt_at, due.number) as place
    from waiting
    left join public.alert_channels as c on c.id = waiting.channel_id
    cross join lateral (
      select d.ctid as at, d.number, d.next_attempt_at
      from public.deliveries as d
      where d.lane = waiting.lane and d.state = 'pending' and d.next_attempt_at <= at_moment
        and (d.leased_until is null or d.leased_until <= at_moment)
        and (d.ordered_by is null or d.number = (
          select first.number from public.deliveries as first
          where first.lane = d.lane and first.ordered_by = d.ordered_by and first.state = 'pending'
          order by first.number limit 1
        ))
        and (d.channel_id is not null or not private.is_deleted(d.workspace_id))
      order by d.next_attempt_at, d.number
      limit greatest(0, case when c.failing_since is null then places_lane else 1 end - (
        select count(*) from (
          select from public.deliveries as held
          where held.lane = waiting.lane and held.lease is not null and held.leased_until > at_moment
          order by held.leased_until limit places_lane
        ) as held
      ))
    ) as due
    where case
      when waiting.channel_id is null then can_mail
      else c.id is not null and c.disabled_at is null and not private.is_deleted(c.workspace_id)
    end
  ), ranked as (
    select at, is_failing,
      row_number() over (partition by is_failing order by place, next_attempt_at) as turn
    from candidates
  ), chosen as (
    select at from ranked
    where not is_failing or turn <= places_failing
    order by is_failing, turn
    limit places
  ), locked as (
    select free.at
    from chosen
    cross join lateral (
      -- A limit, so that each row is found by its place, also by a plan that was made while the queue was empty.
      select d.ctid as at from public.deliveries as d
      where d.ctid = chosen.at and d.state = 'pending' and d.next_attempt_at <= at_moment
        and (d.leased_until is null or d.leased_until <= at_moment)
      limit 1
      for update skip locked
    ) as free
  ), claimed as (
    update public.deliveries as d
    set lease = gen_random_uuid(), attempts = d.attempts + 1,
      leased_until = at_moment + lease_seconds * case d.kind when 'weekly_report' then 3 else 1 end * interval '1 second'
    from locked
    where d.ctid = locked.at
    returning d.*
  )
  select coalesce(jsonb_agg(private.describe_delivery(claimed::public.deliveries) order by claimed.number), '[]')
  into taken
  from claimed;
  return taken;
end
$$;
revoke execute on function private.claim_deliveries(integer, integer, integer, integer, boolean) from public;
grant execute on function private.claim_deliveries(integer, integer, integer, integer, boolean) to outlay_service, service_role;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { id, lease, outcome: 'delivered' | 'failed' | 'gone' (another attempt is no use), status, error, retry_in_ms }
-- returns: the delivery's state, or null where the lease was lost
create function private.finish_delivery(ended jsonb)
returns text
language plpgsql security definer set search_path = '' set enable_seqscan = off
as $$
declare
  delivery constant uuid := (ended ->> 'id')::uuid;
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  sent public.deliveries;
  new_state text;
  next_at timestamptz;
begin
  select c.* into channel from public.deliveries as d
  join public.alert_channels as c on c.workspace_id = d.workspace_id and c.id = d.channel_id
  where d.id = delivery
  for no key update of c;
  select d.* into sent from public.deliveries as d
  where d.id = delivery and d.state = 'pending' and d.lease = (ended ->> 'lease')::uuid
  for update;
  if sent.id is null then
    return null;
  end if;

  new_state := case
    when outcome = 'delivered' then 'delivered'
    when sent.kind in ('alert', 'digest') and (channel.id is null or coalesce(channel.disabled_reason = 'by_admin', false))
      then 'cancelled'
    when outcome = 'gone' or at_moment >= sent.give_up_at then 'dead'
    else 'pending'
  end;
  -- The last attempt is made when the three days are over.
  next_at := case when new_state = 'pending'
    then least(at_moment + (ended ->> 'retry_in_ms')::bigint * interval '1 millisecond', sent.give_up_at)
    else at_moment
  end;
  update public.deliveries as d
  set state = new_state, next_attempt_at = next_at, lease = null, leased_until = null,
    last_status = (ended ->> 'status')::integer, last_error = left(ended ->> 'error', 500),
    delivered_at = case when new_state = 'delivered' then at_moment end
  where d.id = delivery;
  -- What this one held back is due with its next attempt, or now.
  update public.deliveries as d
  set next_attempt_at = next_at
  where d.ctid = any (array(
    select later.ctid from public.deliveries as later
    where later.lane = sent.lane and later.ordered_by = sent.ordered_by and later.state = 'pending'
      and later.number > sent.number and later.lease is null
    order by later.number
  ));

  -- Of a mail about a deletion, with a person's address, nothing stays.
  delete from public.deliveries as d where d.id = delivery and d.recipient is not null and new_state <> 'pending';

  if outcome = 'delivered' then
    update public.alert_channels as c set failing_since = null
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.failing_since is not null;
  elsif outcome = 'gone' or sent.kind <> 'test' then
    -- A failed test does not count: whoever asked for it is told.
    update public.alert_channels as c set failing_since = at_moment
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.failing_since is null;
    update public.alert_channels as c
    set disabled_at = at_moment, disabled_reason = case outcome when 'gone' then 'gone' else 'failing' end
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.disabled_at is null
      and (outcome = 'gone' or c.failing_since <= at_moment - interval '1 day');
    if found then
      insert into public.deliveries (kind, workspace_id, details)
      values ('channel_off', channel.workspace_id, jsonb_build_object('channel_id', channel.id));
    end if;
    update public.deliveries as d
    set state = 'dead', last_error = 'The receiver answered another delivery with 410, which turns the channel off.'
    where outcome = 'gone' and d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.lease is null
      and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null);
  end if;
  return new_state;
end
$$;
revoke execute on function private.finish_delivery(jsonb) from public;
grant execute on function private.finish_delivery(jsonb) to outlay_service, service_role;

-- Queues the digests and the weekly reports that are due, and plans the next ones: one digest with all that a channel has
-- collected, none where there is nothing. A service that was away sends one digest for all of the time, and the report of the
-- last week only. A channel that is off makes none before it is on again.
-- returns: how many were due, of at most `at_most` of each
create function private.queue_scheduled(at_most integer)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  reports integer;
  -- Locked by a statement of its own, so that the next ones see all that was collected before.
  channels constant uuid[] := array(
    select c.id from public.alert_channels as c
    where c.next_digest_at <= at_moment and c.disabled_at is null and not private.is_deleted(c.workspace_id)
    order by c.next_digest_at
    limit at_most
    for no key update skip locked
  );
begin
  with made as (
    insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, ordered_by, digest_at)
    select c.workspace_id, 'digest', c.id, c.name, c.kind, 'digest', c.next_digest_at
    from public.alert_channels as c
    where c.id = any (channels) and exists (
      select from public.deliveries as d where d.channel_id = c.id and d.state = 'collected' and d.digest_id is null
    )
    returning id, channel_id
  )
  update public.deliveries as d set digest_id = made.id
  from made
  where d.channel_id = made.channel_id and d.state = 'collected' and d.digest_id is null;
  update public.alert_channels as c
  set next_digest_at = case when c.cadence <> 'immediate' then private.next_local_time(
    at_moment, c.time_zone, c.digest_time, case when c.cadence = 'weekly' then c.digest_weekday end
  ) end
  where c.id = any (channels);

  with due as (
    select r.workspace_id, r.user_id
    from public.weekly_reports as r
    where r.next_at <= at_moment and not private.is_deleted(r.workspace_id)
    order by r.next_at
    limit at_most
    for update skip locked
  ), planned as (
    update public.weekly_reports as r set next_at = private.next_local_time(at_moment, r.time_zone, '08:00', 1)
    from due
    where r.workspace_id = due.workspace_id and r.user_id = due.user_id
    returning r.*
  ), queued as (
    insert into public.deliveries (workspace_id, kind, reader_id, week)
    select workspace_id, 'weekly_report', user_id, date_trunc('week', at_moment at time zone time_zone)::date - 7
    from planned
    on conflict (workspace_id, reader_id, week) where reader_id is not null do nothing
  )
  select count(*) into reports from planned;
  return greatest(cardinality(channels), reports);
end
$$;
revoke execute on function private.queue_scheduled(integer) from public;
grant execute on function private.queue_scheduled(integer) to outlay_service, service_role;

-- The age of the oldest delivery that waits for an enabled channel, in seconds; 0 where there is none.
create function private.oldest_delivery_seconds()
returns double precision
language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select extract(epoch from clock_timestamp() - d.created_at)::float8
    from public.deliveries as d
    join public.alert_channels as c on c.workspace_id = d.workspace_id and c.id = d.channel_id
    where d.state = 'pending' and c.disabled_at is null
    order by d.created_at
    limit 1
  ), 0)
$$;
revoke execute on function private.oldest_delivery_seconds() from public;
grant execute on function private.oldest_delivery_seconds() to outlay_service, service_role;

-- Deletes the log of more than 30 days ago, and mails whose time is over. Ends what nobody will send: its channel was disabled
-- until it was too late, or was deleted while it was being sent. returns: how many it changed
create function private.sweep_deliveries(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  old_ones integer;
  left_ones integer;
begin
  delete from public.deliveries as d
  where d.ctid = any (array(
    select o.ctid from public.deliveries as o
    where o.created_at < clock_timestamp() - interval '30 days' and o.state <> 'pending'
      and not (o.state = 'collected' and o.digest_id is null)
    order by o.created_at limit at_most
    for update skip locked
  ) || array(
    -- An hour for the last attempt.
    select o.ctid from public.deliveries as o
    where o.channel_id is null and o.give_up_at < clock_timestamp() - interval '1 hour'
    order by o.give_up_at limit at_most
    for update skip locked
  ));
  get diagnostics old_ones = row_count;

  update public.deliveries as d
  set state = case when ended.is_there then 'dead' else 'cancelled' end, lease = null, leased_until = null,
    last_error = coalesce(d.last_error, case when ended.is_there then 'The channel was off for too long.' end)
  from (
    select o.id, c.id is not null as is_there
    from public.deliveries as o
    left join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
    where o.channel_id is not null and (o.state = 'pending' or o.state = 'collected' and o.digest_id is null)
      and (o.leased_until is null or o.leased_until < clock_timestamp())
      and (c.id is null or (c.disabled_at is not null and o.give_up_at < clock_timestamp()))
    order by o.created_at limit at_most
    for update of o skip locked
  ) as ended
  where d.id = ended.id;
  get diagnostics left_ones = row_count;
  return old_ones + left_ones;
end
$function$;
revoke execute on function private.sweep_deliveries(integer) from public;
grant execute on function private.sweep_deliveries(integer) to outlay_service, service_role;

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
revoke execute on function private.begin_channel_test(uuid, uuid, integer) from public;
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
  perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
  if not found then
    return 'disabled';
  end if;
  update public.deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = whole and state = 'dead' and kind in ('alert', 'digest');
  return case when not found then 'not_dead' end;
end
$function$;
revoke execute on function private.resend_delivery(uuid, uuid) from public;
grant execute on function private.resend_delivery(uuid, uuid) to outlay_service, service_role;

-- Cancels what a channel has not sent, and what it has collected. What is being sent at this moment ends by itself.
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
revoke execute on function private.cancel_deliveries(uuid, uuid) from public;

create trigger deliveries_wait_for_digests before insert on public.deliveries
  for each row when (new.kind = 'alert' and new.state = 'pending')
  execute function private.collect_for_digest();

-- Changes the fields that are given. A channel that is enabled again sends what is left in its queue at once; one that a
-- person disables drops it.
--
-- changes: { name, target, rules, least_percent, is_disabled, address }, any of them
create or replace function private.change_alert_channel(workspace uuid, channel uuid, changes jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels as c
  set name = coalesce(changes ->> 'name', c.name),
    target = coalesce(changes ->> 'target', c.target),
    rules = case
      when jsonb_typeof(changes -> 'rules') = 'array' then array(select jsonb_array_elements_text(changes -> 'rules'))
      when changes ? 'rules' then null
      else c.rules
    end,
    least_percent = case when changes ? 'least_percent' then (changes ->> 'least_percent')::integer else c.least_percent end,
    secret_set_at = case when changes ? 'address' then now() else c.secret_set_at end
  where c.workspace_id = workspace and c.id = channel;

  update private.channel_secrets
  set address = changes ->> 'address'
  where workspace_id = workspace and channel_id = channel and changes ? 'address';

  if changes -> 'is_disabled' = 'true' then
    update public.alert_channels as c
    set disabled_at = coalesce(c.disabled_at, now()), disabled_reason = 'by_admin'
    where c.workspace_id = workspace and c.id = channel and c.disabled_reason is distinct from 'by_admin';
    perform private.cancel_deliveries(workspace, channel);
  elsif changes -> 'is_disabled' = 'false' then
    update public.alert_channels as c
    set disabled_at = null, disabled_reason = null, failing_since = null
    where c.workspace_id = workspace and c.id = channel and c.disabled_at is not null;
    if found then
      update public.deliveries as d
      set next_attempt_at = now()
      where d.channel_id = channel and d.workspace_id = workspace and d.state = 'pending' and d.lease is null;
    end if;
  end if;
end
$$;

-- Deletes a channel and its secrets. Its log stays, and what it has not sent is cancelled.
create or replace function private.remove_alert_channel(workspace uuid, channel uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_channels where workspace_id = workspace and id = channel;
  perform private.cancel_deliveries(workspace, channel);
end
$$;

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's
-- transaction. What was recorded before is neither changed nor sent again, unless it was armed again for another limit. What is
-- snoozed, or of a rule that is off, is recorded quietly.
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details }]; without
-- `state`, a threshold's follows from its percentage
create or replace function private.raise_alerts(raised jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  with fired as (
    insert into public.alerts as a
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details)
    select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, r.level,
      coalesce(r.state, case when (r.details ->> 'percent')::numeric >= 100 then 'alert' else 'warning' end),
      quiet.reason is not null, quiet.reason, coalesce(r.details, '{}')
    from rows from (
      jsonb_to_recordset(raised) as (
        workspace_id uuid, rule text, subject_type text, subject_id text, period date, level text, state text, is_quiet boolean,
        quiet_reason text, details jsonb
      )
    ) with ordinality as r
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details, place)
    join public.workspaces as w on w.id = r.workspace_id
    cross join lateral (
      select case
        when r.is_quiet then coalesce(r.quiet_reason, 'was_above')
        when exists (
          select from public.alert_rules as s where s.workspace_id = r.workspace_id and s.rule = r.rule and not s.is_on
        ) then 'rule_off'
        when exists (
          select from public.alert_snoozes as s
          where s.workspace_id = r.workspace_id and s.rule = r.rule and s.until > clock_timestamp()
            and (s.subject_id is null or s.subject_id = r.subject_id)
        ) then 'snoozed'
      end as reason
    ) as quiet
    order by r.place
    for key share of w
    on conflict (workspace_id, rule, subject_id, period, level, rearmed_at) do nothing
    returning a.workspace_id, a.id, a.number, a.rule, a.subject_id, a.level, a.is_quiet
  )
  insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, alert_id, ordered_by)
  select c.workspace_id, 'alert', c.id, c.name, c.kind, fired.id, fired.rule || ' ' || fired.subject_id
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
$function$;

-- Deletes records that are older than so many days: at most so many of each kind. What is still needed stays: an alert of a
-- state that goes on, or of a budget's present period, in which it must not fire again; an alert that is still to be sent; a
-- repricing that is not done. No sum is worked out from these records.
-- days: { idempotency, alerts, audit, repricings }, each at least 90. returns: how many of the kind with most
create or replace function private.sweep_old_records(days jsonb, at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  now_at constant timestamptz := clock_timestamp();
  most integer := 0;
  changed integer;
begin
  delete from private.idempotency where ctid = any (array(
    select i.ctid from private.idempotency as i
    where i.created_at < now_at - greatest((days ->> 'idempotency')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics most = row_count;

  delete from public.alerts where ctid = any (array(
    select a.ctid from public.alerts as a
    where a.fired_at < now_at - greatest((days ->> 'alerts')::integer, 90) * interval '1 day'
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = a.workspace_id and s.rule = a.rule and s.subject_id = a.subject_id and s.period = a.period
      )
      and not exists (
        select from public.budgets as b
        where b.workspace_id = a.workspace_id and b.id::text = a.subject_id and private.budget_period(b, now_at) = a.period
      )
      and not exists (
        select from public.deliveries as d
        where d.workspace_id = a.workspace_id and d.alert_id = a.id and d.state in ('pending', 'collected')
      )
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

  delete from public.audit_log where ctid = any (array(
    select l.ctid from public.audit_log as l
    where l.at < now_at - greatest((days ->> 'audit')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);

  delete from public.repricings where ctid = any (array(
    select r.ctid from public.repricings as r
    where r.status = 'done' and r.finished_at < now_at - greatest((days ->> 'repricings')::integer, 90) * interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  return greatest(most, changed);
end
$function$;

-- Keeps the hash of the secret in a mail's link, and removes old links.
create or replace function private.add_report_link(workspace uuid, reader uuid, secret_hash bytea)
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

-- Writes the audit log's entry about a deletion or its undo, and queues a mail for every member.
create or replace function private.tell_members(workspace uuid, done text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select w.id, auth.uid(), auth.email(), 'workspace.' || done, 'workspace ' || w.id, null,
    case when w.deleted_at is not null then
      jsonb_build_object('name', w.name, 'slug', w.slug, 'erased_at', w.deleted_at + private.days_to_undo())
    else jsonb_build_object('name', w.name, 'slug', w.slug) end,
    nullif(current_setting('request.address', true), '')
  from public.workspaces as w where w.id = workspace;
  insert into public.deliveries (kind, recipient, details)
  select 'workspace_' || done, p.email, jsonb_build_object(
    'name', w.name, 'slug', w.slug, 'role', m.role,
    'by', (select coalesce(actor.display_name, actor.email) from public.profiles as actor where actor.id = auth.uid()),
    'erased_at', floor(extract(epoch from w.deleted_at + private.days_to_undo()) * 1000)::bigint
  )
  from public.workspaces as w
  join public.workspace_members as m on m.workspace_id = w.id
  join public.profiles as p on p.id = m.user_id
  where w.id = workspace
$$;

-- Deletes the signed-in user's account, of a session that proved lately who they are.
-- returns: { blocked: [{ slug, name }] }: workspaces with other members that would be without an owner, and nothing was done; or
--   { deleted_at, erased_at: ms }
create or replace function private.delete_account()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  own public.profiles;
  at timestamptz;
  blocked jsonb;
  alone uuid;
begin
  if not private.signed_in_recently() or not private.session_is_complete() then
    raise exception 'only a session that signed in within the last hour may delete an account'
      using errcode = 'insufficient_privilege';
  end if;
  -- Before the account, as changes of members do. What another owner changes meanwhile is seen.
  perform from public.workspaces as w
  where w.id in (select m.workspace_id from public.workspace_members as m where m.user_id = auth.uid())
  order by w.id
  for no key update;
  select * into own from public.profiles where id = auth.uid() and deleted_at is null for update;
  if not found then
    raise exception 'the account is deleted already' using errcode = 'insufficient_privilege';
  end if;

  select jsonb_agg(jsonb_build_object('slug', w.slug, 'name', w.name) order by w.name) into blocked
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = own.id and m.role = 'owner' and w.deleted_at is null
    and exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
    )
    and not exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null and o.role = 'owner'
    );
  if blocked is not null then
    return jsonb_build_object('blocked', blocked);
  end if;

  at := clock_timestamp();
  for alone in
    select w.id
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = own.id and w.deleted_at is null and w.type <> 'demo'
      and not exists (
        select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
        where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
      )
    order by w.id
  loop
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || alone, 0));
    update public.workspaces
    set deleted_at = at, deleted_by = own.id, prices_version = prices_version - private.deletion_mark()
    where id = alone;
    delete from private.oauth_authorizations where workspace_id = alone;
  end loop;
  perform private.audit_account(own.id, own.email, 'account.deleted', nullif(current_setting('request.address', true), ''));
  delete from private.oauth_authorizations where user_id = own.id;
  delete from public.connections where user_id = own.id;
  update public.profiles set deleted_at = at where id = own.id;
  insert into public.deliveries (kind, recipient, details)
  values ('account_deleted', own.email, jsonb_build_object(
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  ));
  return jsonb_build_object(
    'deleted_at', floor(extract(epoch from at) * 1000)::bigint,
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  );
end
$$;

-- Undoes the deletion of the signed-in user's account, and of the workspaces that were deleted with it, for a session that
-- proved after the deletion who they are, with their second factor where they have one.
-- returns: whether it did
create or replace function private.restore_account()
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  own public.profiles;
begin
  select * into own from public.profiles
  where id = auth.uid() and deleted_at > clock_timestamp() - private.days_to_undo()
  for update;
  if not found or not private.session_is_complete() or not exists (
    select from jsonb_array_elements(
      case when jsonb_typeof(auth.jwt() -> 'amr') = 'array' then auth.jwt() -> 'amr' else '[]' end
    ) as proof
    where jsonb_typeof(proof -> 'timestamp') = 'number'
      and (proof ->> 'timestamp')::numeric > floor(extract(epoch from own.deleted_at))
  ) then
    return false;
  end if;
  update public.profiles set deleted_at = null where id = own.id;
  update public.workspaces
  set deleted_at = null, deleted_by = null, prices_version = prices_version + private.deletion_mark()
  where deleted_by = own.id and deleted_at = own.deleted_at;
  perform private.audit_account(own.id, own.email, 'account.restored', nullif(current_setting('request.address', true), ''));
  insert into public.deliveries (kind, recipient, details) values ('account_restored', own.email, '{"erased_at": null}');
  return true;
end
$$;

-- Erases one account whose deletion can no longer be undone. One transaction: nothing of it happened where it is interrupted.
-- returns: null where none is due; else { user_id, identity: whether the identity could be deleted, too }
create or replace function private.erase_account_step()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  gone public.profiles;
  pseudonym text := 'deleted-' || left(replace(gen_random_uuid()::text, '-', ''), 12);
  -- The address where it stands by itself, and not as a part of a longer one.
  named text;
  is_deleted boolean := true;
begin
  select * into gone from public.profiles
  where deleted_at <= clock_timestamp() - private.days_to_undo()
  order by deleted_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  named := '(?<![[:alnum:]._%+-])' || regexp_replace(gone.email, '([^[:alnum:]@])', '\\\1', 'g') || '(?![[:alnum:].-])';

  -- The key under which they recorded by hand has their name.
  update public.api_keys set name = pseudonym, revoked_at = coalesce(revoked_at, now())
  where created_by = gone.id and kind = 'member';
  update public.repricings set requested_by_email = pseudonym where requested_by = gone.id;
  delete from public.invitations where email = lower(gone.email);
  delete from public.deliveries where recipient = gone.email;
  update private.channel_secrets as s set address = regexp_replace(s.address, named, pseudonym, 'g')
  from public.alert_channels as c
  where c.workspace_id = s.workspace_id and c.id = s.channel_id and c.kind = 'email' and position(gone.email in s.address) > 0;
  update public.alert_channels set target = regexp_replace(target, named, pseudonym, 'g')
  where kind = 'email' and position(gone.email in target) > 0;

  begin
    delete from auth.users where id = gone.id;
  exception when insufficient_privilege then
    is_deleted := false;
  end;
  delete from public.profiles where id = gone.id;

  -- After what was changed above, which the log tells of.
  update public.audit_log
  set actor_email = case when actor_id = gone.id then pseudonym else actor_email end,
    before = regexp_replace(before::text, named, pseudonym, 'g')::jsonb,
    after = regexp_replace(after::text, named, pseudonym, 'g')::jsonb
  where actor_id = gone.id or position(gone.email in before::text) > 0 or position(gone.email in after::text) > 0;
  return jsonb_build_object('user_id', gone.id, 'identity', is_deleted);
end
$$;

-- Keeps something that its service deletes next, in the same transaction. Whether the caller may delete it is decided there.
create or replace function private.keep_deleted(kind text, workspace uuid, thing uuid)
returns void
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept jsonb;
begin
  case keep_deleted.kind
    when 'budget' then
      -- What is being recorded meanwhile is counted first, or finds no budget.
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      select jsonb_build_object('row', to_jsonb(b), 'spend', coalesce((
        select jsonb_agg(to_jsonb(s)) from public.budget_spend as s
        where s.workspace_id = workspace and s.budget_id = thing
      ), '[]'))
      into kept from public.budgets as b where b.workspace_id = workspace and b.id = thing;
    when 'saved_view' then
      select jsonb_build_object('row', to_jsonb(v))
      into kept from public.saved_views as v where v.workspace_id = workspace and v.id = thing;
    when 'alert_channel' then
      select jsonb_build_object('row', to_jsonb(c), 'secrets', (
        select to_jsonb(s) from private.channel_secrets as s where s.workspace_id = workspace and s.channel_id = thing
      ), 'waiting', coalesce((
        select jsonb_object_agg(d.id, d.state) from public.deliveries as d
        where d.channel_id = thing and d.workspace_id = workspace and d.lease is null
          and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
      ), '{}'))
      into kept from public.alert_channels as c where c.workspace_id = workspace and c.id = thing;
    when 'invitation' then
      select jsonb_build_object('row', to_jsonb(i), 'secret', (
        select to_jsonb(s) from private.invitation_secrets as s where s.invitation_id = thing
      ))
      into kept from public.invitations as i
      where i.workspace_id = workspace and i.id = thing and i.accepted_at is null;
  end case;
  if kept is null then
    return;
  end if;
  insert into private.deleted_things (workspace_id, kind, id, content)
  values (workspace, keep_deleted.kind, thing, kept)
  on conflict on constraint deleted_things_pkey do update set content = excluded.content, deleted_at = excluded.deleted_at;
end
$function$;

-- Puts something back that was deleted at most ten minutes ago, with its id and all that belonged to it.
--
-- at_most: how many of its kind the workspace, of a view its maker, may have
-- returns: 'restored', 'unknown' (never there, swept, or not the caller's to restore), or 'full'
create or replace function private.restore_deleted(kind text, workspace uuid, thing uuid, at_most integer)
returns text
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept jsonb;
  restored public.budgets;
begin
  select d.content into kept from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing
    and d.deleted_at >= clock_timestamp() - interval '10 minutes'
  for update;
  if kept is null or not private.may_restore(restore_deleted.kind, workspace, kept -> 'row') then
    return 'unknown';
  end if;
  case restore_deleted.kind
    when 'budget' then
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      -- Later it would be added to the restored budget, too, which counts it now.
      perform private.count_waiting_spend(workspace);
      perform private.insert_kept_row('public.budgets', kept -> 'row');
      select * into restored from public.budgets as b where b.workspace_id = workspace and b.id = thing;
      perform private.count_restored_budget(restored, kept -> 'spend');
    when 'saved_view' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (
        select count(*) >= at_most from public.saved_views as v
        where v.workspace_id = workspace and v.created_by = (kept #>> '{row,created_by}')::uuid
      ) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.saved_views', kept -> 'row');
    when 'alert_channel' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (select count(*) >= at_most from public.alert_channels as c where c.workspace_id = workspace) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.alert_channels', kept -> 'row');
      perform private.insert_kept_row('private.channel_secrets', kept -> 'secrets');
      update public.deliveries as d set state = kept #>> array['waiting', d.id::text]
      where d.workspace_id = workspace and d.channel_id = thing and d.state = 'cancelled'
        and kept -> 'waiting' ? d.id::text;
    when 'invitation' then
      perform private.insert_kept_row('public.invitations', kept -> 'row');
      perform private.insert_kept_row('private.invitation_secrets', kept -> 'secret');
  end case;
  delete from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing;
  return 'restored';
end
$function$;
