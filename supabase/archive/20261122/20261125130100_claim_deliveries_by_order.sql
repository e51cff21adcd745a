-- The plans of the queue are good at any length. Each connection kept a plan that it made while the queue was empty: with nothing
-- in the table every index costs the same, and one was taken that has all that waits. A claim then read the whole queue for each
-- row and each earlier one: 80 million rows of a queue of 2,000.
--
-- Now each look into the queue asks for the order of the one index that fits it, which decides between plans of equal cost; and
-- rows that are chosen are taken where they are.

-- With the number, so that deliveries that are due at the same instant come in their order.
drop index public.alert_deliveries_pending_idx;
create index alert_deliveries_pending_idx on public.alert_deliveries (channel_id, next_attempt_at, number)
  where state = 'pending';
drop index public.alert_deliveries_leased_idx;
create index alert_deliveries_leased_idx on public.alert_deliveries (channel_id, leased_until) where lease is not null;

-- Takes at most `room` deliveries that are due, and leases them. A channel has at most `room_channel` leased deliveries, and a
-- failing channel one. All failing channels together have at most `room_failing`, so that receivers that hang do not delay
-- the others. Of a channel's deliveries about one rule and subject, only the oldest is taken.
-- returns: as describe_delivery
create or replace function private.claim_alert_deliveries(room integer, room_failing integer, room_channel integer, lease_seconds integer)
returns jsonb
language plpgsql security definer set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with recursive waiting as (
    -- The channels with anything in the queue, each found by one look into the index.
    (select d.channel_id from public.alert_deliveries as d where d.state = 'pending' order by d.channel_id limit 1)
    union all
    select (
      select d.channel_id from public.alert_deliveries as d
      where d.state = 'pending' and d.channel_id > waiting.channel_id
      order by d.channel_id limit 1
    )
    from waiting
    where waiting.channel_id is not null
  ), candidates as (
    select due.at, due.next_attempt_at, c.failing_since is not null as is_failing,
      row_number() over (partition by c.id order by due.next_attempt_at, due.number) as place
    from waiting
    join public.alert_channels as c on c.id = waiting.channel_id and c.disabled_at is null
    join public.workspaces as w on w.id = c.workspace_id and w.deleted_at is null
    cross join lateral (
      select d.ctid as at, d.number, d.next_attempt_at
      from public.alert_deliveries as d
      where d.channel_id = c.id and d.state = 'pending' and d.next_attempt_at <= at_moment
        and (d.leased_until is null or d.leased_until <= at_moment)
        and (d.ordered_by is null or d.number = (
          select first.number from public.alert_deliveries as first
          where first.channel_id = d.channel_id and first.ordered_by = d.ordered_by and first.state = 'pending'
          order by first.number limit 1
        ))
      order by d.next_attempt_at, d.number
      limit greatest(0, case when c.failing_since is null then room_channel else 1 end - (
        select count(*) from (
          select from public.alert_deliveries as held
          where held.channel_id = c.id and held.lease is not null and held.leased_until > at_moment
          order by held.leased_until limit room_channel
        ) as held
      ))
    ) as due
  ), ranked as (
    select at, is_failing,
      row_number() over (partition by is_failing order by place, next_attempt_at) as turn
    from candidates
  ), chosen as (
    select at from ranked
    where not is_failing or turn <= room_failing
    order by is_failing, turn
    limit room
  ), locked as (
    select d.ctid as at
    from chosen
    join public.alert_deliveries as d on d.ctid = chosen.at
    where d.state = 'pending' and d.next_attempt_at <= at_moment
      and (d.leased_until is null or d.leased_until <= at_moment)
    for update of d skip locked
  ), claimed as (
    update public.alert_deliveries as d
    set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second', attempts = d.attempts + 1
    from locked
    where d.ctid = locked.at
    returning d.*
  )
  select coalesce(jsonb_agg(private.describe_delivery(claimed::public.alert_deliveries) order by claimed.number), '[]')
  into taken
  from claimed;
  return taken;
end
$$;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, id, lease, outcome: 'delivered' | 'failed' | 'gone', status, error, retry_in_ms }
-- returns: the delivery's state, or null where the lease was lost
create or replace function private.finish_alert_delivery(ended jsonb)
returns text
language plpgsql security definer set search_path = '' set enable_seqscan = off
as $$
declare
  workspace constant uuid := (ended ->> 'workspace_id')::uuid;
  delivery constant uuid := (ended ->> 'id')::uuid;
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  sent public.alert_deliveries;
  new_state text;
  is_test boolean;
  next_at timestamptz;
begin
  select c.* into channel from public.alert_channels as c
  where c.workspace_id = workspace and c.id = (
    select d.channel_id from public.alert_deliveries as d where d.workspace_id = workspace and d.id = delivery
  )
  for no key update;
  select d.* into sent from public.alert_deliveries as d
  where d.workspace_id = workspace and d.id = delivery and d.state = 'pending' and d.lease = (ended ->> 'lease')::uuid
  for update;
  if sent.id is null then
    return null;
  end if;

  is_test := sent.alert_id is null and sent.digest_at is null;
  new_state := case
    when outcome = 'delivered' then 'delivered'
    when not is_test and (channel.id is null or coalesce(channel.disabled_reason = 'by_admin', false)) then 'cancelled'
    when outcome = 'gone' or at_moment >= sent.give_up_at then 'dead'
    else 'pending'
  end;
  -- The last attempt is made when the three days are over.
  next_at := case when new_state = 'pending'
    then least(at_moment + (ended ->> 'retry_in_ms')::bigint * interval '1 millisecond', sent.give_up_at)
    else at_moment
  end;
  update public.alert_deliveries as d
  set state = new_state, next_attempt_at = next_at, lease = null, leased_until = null,
    last_status = (ended ->> 'status')::integer, last_error = left(ended ->> 'error', 500),
    delivered_at = case when new_state = 'delivered' then at_moment end
  where d.workspace_id = workspace and d.id = delivery;
  -- What this one held back is due with its next attempt, or now.
  update public.alert_deliveries as d
  set next_attempt_at = next_at
  where d.ctid = any (array(
    select later.ctid from public.alert_deliveries as later
    where later.channel_id = sent.channel_id and later.ordered_by = sent.ordered_by and later.state = 'pending'
      and later.number > sent.number and later.lease is null
    order by later.number
  ));

  if outcome = 'delivered' then
    update public.alert_channels as c set failing_since = null
    where c.workspace_id = workspace and c.id = channel.id and c.failing_since is not null;
  elsif outcome = 'gone' then
    update public.alert_channels as c
    set failing_since = coalesce(c.failing_since, at_moment), disabled_at = at_moment, disabled_reason = 'gone',
      tell_owners_at = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.disabled_at is null;
    update public.alert_deliveries as d
    set state = 'dead', last_error = 'The receiver answered another delivery with 410, which turns the channel off.'
    where d.workspace_id = workspace and d.channel_id = channel.id and d.lease is null
      and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null);
  elsif not is_test then
    -- A failed test does not count: whoever asked for it is told.
    update public.alert_channels as c set failing_since = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.failing_since is null;
    update public.alert_channels as c
    set disabled_at = at_moment, disabled_reason = 'failing', tell_owners_at = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.disabled_at is null
      and c.failing_since <= at_moment - interval '1 day';
  end if;
  return new_state;
end
$$;
