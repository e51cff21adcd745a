-- The queue that delivers alerts to channels.

-- Takes at most `room` deliveries that are due, and leases them. A channel has at most `room_channel` leased deliveries, and a
-- failing channel one. All failing channels together have at most `room_failing`, so that receivers that hang do not delay
-- the others. Of a channel's deliveries about one rule and subject, only the oldest is taken.
-- returns: as describe_delivery
create function private.claim_alert_deliveries(room integer, room_failing integer, room_channel integer, lease_seconds integer)
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
grant execute on function private.claim_alert_deliveries(integer, integer, integer, integer) to outlay_service, service_role;

-- Queues a test of a channel and takes it at once, for an admin who waits for its outcome. It is tried once.
-- returns: as describe_delivery
create function private.begin_channel_test(workspace uuid, channel uuid, lease_seconds integer)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  queued public.alert_deliveries;
begin
  perform private.require_admin_of(workspace);
  insert into public.alert_deliveries
    (workspace_id, channel_id, channel_name, channel_kind, attempts, give_up_at, lease, leased_until)
  select c.workspace_id, c.id, c.name, c.kind, 1, now(), gen_random_uuid(), now() + lease_seconds * interval '1 second'
  from public.alert_channels as c
  where c.workspace_id = workspace and c.id = channel
  returning * into queued;
  return private.describe_delivery(queued);
end
$$;
grant execute on function private.begin_channel_test(uuid, uuid, integer) to outlay_service, service_role;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, id, lease, outcome: 'delivered' | 'failed' | 'gone', status, error, retry_in_ms }
-- returns: the delivery's state, or null where the lease was lost
create function private.finish_alert_delivery(ended jsonb)
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
grant execute on function private.finish_alert_delivery(jsonb) to outlay_service, service_role;

-- The age of the oldest delivery that waits for an enabled channel, in seconds; 0 where there is none.
create function private.oldest_alert_delivery_seconds()
returns double precision
language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select extract(epoch from clock_timestamp() - d.created_at)::float8
    from public.alert_deliveries as d
    join public.alert_channels as c on c.workspace_id = d.workspace_id and c.id = d.channel_id
    where d.state = 'pending' and c.disabled_at is null
    order by d.created_at
    limit 1
  ), 0)
$$;
grant execute on function private.oldest_alert_delivery_seconds() to outlay_service, service_role;

-- Takes channels that the service disabled and whose owners have not been told yet; the next process may try in ten minutes.
-- Nobody is told after three days.
-- returns: [{ workspace_id, workspace: { slug, name }, channel: { id, name, kind, target }, reason, failing_since, owners }]
create function private.claim_channel_notices(at_most integer)
 returns jsonb
 language sql
 security definer
 set search_path = ''
as $$
  with due as (
    select c.workspace_id, c.id
    from public.alert_channels as c
    where c.tell_owners_at <= clock_timestamp()
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.tell_owners_at
    limit at_most
    for no key update skip locked
  ), claimed as (
    update public.alert_channels as c
    set tell_owners_at = case
      when c.disabled_at > clock_timestamp() - interval '3 days' then clock_timestamp() + interval '10 minutes'
    end
    from due
    where c.workspace_id = due.workspace_id and c.id = due.id
    returning c.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', claimed.workspace_id,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object('id', claimed.id, 'name', claimed.name, 'kind', claimed.kind, 'target', claimed.target),
    'reason', claimed.disabled_reason,
    'failing_since', claimed.failing_since,
    'owners', (
      select coalesce(jsonb_agg(p.email order by p.email), '[]')
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = claimed.workspace_id and m.role = 'owner'
    )
  )), '[]')
  from claimed
  join public.workspaces as w on w.id = claimed.workspace_id
  where claimed.tell_owners_at is not null
$$;
grant execute on function private.claim_channel_notices(integer) to outlay_service, service_role;

create function private.note_owners_told(workspace uuid, channel uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.alert_channels set tell_owners_at = null
  where workspace_id = workspace and id = channel and tell_owners_at is not null
$$;
grant execute on function private.note_owners_told(uuid, uuid) to outlay_service, service_role;

-- Deletes the log of more than 30 days ago, and ends what nobody will send: its channel was disabled until it was too late,
-- or was deleted while it was being sent. returns: how many it changed
create function private.sweep_alert_deliveries(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  old_ones integer;
  left_ones integer;
begin
  delete from public.alert_deliveries as d
  where (d.workspace_id, d.id) in (
    select o.workspace_id, o.id from public.alert_deliveries as o
    where o.created_at < clock_timestamp() - interval '30 days' and o.state <> 'pending'
      and not (o.state = 'collected' and o.digest_id is null)
    order by o.created_at limit at_most
    for update skip locked
  );
  get diagnostics old_ones = row_count;

  update public.alert_deliveries as d
  set state = case when ended.is_there then 'dead' else 'cancelled' end, lease = null, leased_until = null,
    last_error = coalesce(d.last_error, case when ended.is_there then 'The channel was off for too long.' end)
  from (
    select o.workspace_id, o.id, c.id is not null as is_there
    from public.alert_deliveries as o
    left join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
    where (o.state = 'pending' or o.state = 'collected' and o.digest_id is null)
      and (o.leased_until is null or o.leased_until < clock_timestamp())
      and (c.id is null or (c.disabled_at is not null and o.give_up_at < clock_timestamp()))
    order by o.created_at limit at_most
    for update of o skip locked
  ) as ended
  where d.workspace_id = ended.workspace_id and d.id = ended.id;
  get diagnostics left_ones = row_count;
  return old_ones + left_ones;
end
$function$;
grant execute on function private.sweep_alert_deliveries(integer) to outlay_service, service_role;

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
