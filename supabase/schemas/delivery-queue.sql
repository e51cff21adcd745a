-- How processes work the queue of deliveries: claim, finish, queue what is scheduled, sweep.

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
    when sent.kind in ('alert', 'digest', 'budget_request') and (channel.id is null or coalesce(channel.disabled_reason = 'by_admin', false))
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
grant execute on function private.finish_delivery(jsonb) to outlay_service, service_role;

-- Queues the digests and the weekly reports that are due, and plans the next ones: one digest with all that a channel has
-- collected, none where there is nothing. After an outage the service sends one digest for the whole time, and only the report
-- of the last week. A channel that is off gets no digest until it is on again.
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
grant execute on function private.oldest_delivery_seconds() to outlay_service, service_role;

-- Deletes the log of more than 30 days ago, and mails whose time is over. Ends deliveries that will not be sent any more: their
-- channel was disabled for too long, or was deleted while they were being sent. returns: how many it changed
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
      -- Those of alerts are kept as the log.
      and (o.kind <> 'alert_mail' or o.state = 'pending')
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
grant execute on function private.sweep_deliveries(integer) to outlay_service, service_role;
