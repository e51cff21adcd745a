-- The queue knows digests: what is collected is cancelled, ended and swept like what waits; a digest is described with its
-- alerts, and its failures count for the channel as those of an alert do.

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
revoke execute on function private.describe_alert(public.alerts) from public;

-- What a process needs to send a delivery.
-- returns: { workspace_id, id, lease, attempts, workspace, channel, alert, digest }, with the channel's secrets; `digest` has
--   the count of its alerts and the newest hundred; a test has neither an alert nor a digest
create or replace function private.describe_delivery(d public.alert_deliveries)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'workspace_id', d.workspace_id, 'id', d.id, 'lease', d.lease, 'attempts', d.attempts,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object(
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
    ),
    'alert', (
      select private.describe_alert(a)
      from public.alerts as a
      where a.workspace_id = d.workspace_id and a.id = d.alert_id
    ),
    'digest', case when d.digest_at is not null then (
      select jsonb_build_object('count', count(*), 'alerts', coalesce(
        jsonb_agg(private.describe_alert(a) order by a.number desc) filter (where listed.place <= 100), '[]'
      ))
      from (
        select m.alert_id, row_number() over (order by m.number desc) as place
        from public.alert_deliveries as m
        where m.workspace_id = d.workspace_id and m.digest_id = d.id
      ) as listed
      join public.alerts as a on a.workspace_id = d.workspace_id and a.id = listed.alert_id
    ) end
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$function$;

-- Cancels what a channel has not sent, and what it has collected. What is being sent at this moment ends by itself.
create or replace function private.cancel_alert_deliveries(workspace uuid, channel uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.alert_deliveries as d
  set state = 'cancelled'
  where d.channel_id = channel and d.workspace_id = workspace and d.lease is null
    and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
$function$;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, id, lease, outcome: 'delivered' | 'failed' | 'gone', status, error, retry_in_ms }
-- returns: the delivery's state, or null where the lease was lost
create or replace function private.finish_alert_delivery(ended jsonb)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
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
  where d.channel_id = sent.channel_id and d.ordered_by = sent.ordered_by and d.state = 'pending'
    and d.number > sent.number and d.lease is null;

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
$function$;

-- Deletes the log of more than 30 days ago, and ends what nobody will send: its channel was disabled until it was too late,
-- or was deleted while it was being sent. returns: how many it changed
create or replace function private.sweep_alert_deliveries(at_most integer)
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

-- Queues a dead delivery again, for another three days.
-- returns: null where it is queued, otherwise why not: 'not_dead', or 'disabled' (the channel is, or was deleted)
create or replace function private.resend_alert_delivery(workspace uuid, delivery uuid)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  -- An alert that was sent with a digest is sent again with it.
  whole uuid := (
    select coalesce(digest_id, id) from public.alert_deliveries where workspace_id = workspace and id = delivery
  );
  of_channel uuid := (select channel_id from public.alert_deliveries where workspace_id = workspace and id = delivery);
begin
  perform private.require_admin_of(workspace);
  perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
  if not found then
    return 'disabled';
  end if;
  update public.alert_deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = whole and state = 'dead' and (alert_id is not null or digest_at is not null);
  return case when not found then 'not_dead' end;
end
$function$;
