-- Alerts of a channel, collected for a daily or weekly digest.

-- Plans a channel's next digest where its cadence, time, weekday or zone changed. What was collected for a channel that is
-- immediate from now on is sent as one last digest.
create function private.plan_digest()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  new.next_digest_at := case
    when new.cadence <> 'immediate' then private.next_local_time(
      clock_timestamp(), new.time_zone, new.digest_time, case when new.cadence = 'weekly' then new.digest_weekday end
    )
    when old.cadence <> 'immediate' then clock_timestamp()
  end;
  return new;
end
$$;

create trigger alert_channels_plan_digests before update of cadence, digest_time, digest_weekday, time_zone
  on public.alert_channels for each row
  when (
    (old.cadence, old.digest_time, old.digest_weekday, old.time_zone)
    is distinct from (new.cadence, new.digest_time, new.digest_weekday, new.time_zone)
  )
  execute function private.plan_digest();

-- Keeps an alert for the digest where its channel has one. The channel is locked until then, so that a change of its cadence
-- waits, and sends what this transaction collects.
create function private.collect_for_digest()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  planned timestamptz;
begin
  perform from public.alert_channels as c
  where c.workspace_id = new.workspace_id and c.id = new.channel_id and c.cadence <> 'immediate';
  if not found then
    return new;
  end if;
  select c.next_digest_at into planned from public.alert_channels as c
  where c.workspace_id = new.workspace_id and c.id = new.channel_id and c.cadence <> 'immediate'
  for share;
  if found then
    new.state := 'collected';
    new.give_up_at := greatest(planned, clock_timestamp()) + interval '3 days';
  end if;
  return new;
end
$$;

create trigger alert_deliveries_wait_for_digests before insert on public.alert_deliveries
  for each row when (new.alert_id is not null and new.state = 'pending')
  execute function private.collect_for_digest();

-- What a process needs to send a delivery.
-- returns: { workspace_id, id, lease, attempts, workspace, channel, alert, digest }, with the channel's secrets; `digest` has
--   the channel's time zone, the count of its alerts and the newest hundred; a test has neither an alert nor a digest
create function private.describe_delivery(d public.alert_deliveries)
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
      select jsonb_build_object('time_zone', c.time_zone, 'count', count(*), 'alerts', coalesce(
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

-- Sets the cadence of a channel, for admins.
-- digest: { cadence, digest_time, digest_weekday, time_zone }
create function private.set_channel_digest(workspace uuid, channel uuid, digest jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels as c
  set cadence = digest ->> 'cadence',
    digest_time = coalesce((digest ->> 'digest_time')::time, c.digest_time),
    digest_weekday = coalesce((digest ->> 'digest_weekday')::smallint, c.digest_weekday),
    time_zone = coalesce(digest ->> 'time_zone', c.time_zone)
  where c.workspace_id = workspace and c.id = channel;
end
$$;
grant execute on function private.set_channel_digest(uuid, uuid, jsonb) to outlay_service, service_role;

-- Makes the digests that are due: one delivery with all that a channel has collected, and none where there is nothing. The
-- channel is locked, and the next digest planned, in the same transaction. A service that was away makes one for all of the
-- time. A channel that is off makes none before it is on again. returns: how many it made
create function private.make_digests(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  made uuid;
  count integer := 0;
begin
  for channel in
    select c.* from public.alert_channels as c
    where c.next_digest_at <= at_moment and c.disabled_at is null
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.next_digest_at
    limit at_most
    for no key update skip locked
  loop
    made := null;
    insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, ordered_by, digest_at)
    select channel.workspace_id, channel.id, channel.name, channel.kind, 'digest', channel.next_digest_at
    where exists (
      select from public.alert_deliveries as d
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null
    )
    returning id into made;
    if made is not null then
      update public.alert_deliveries as d
      set digest_id = made
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null;
      count := count + 1;
    end if;
    update public.alert_channels as c
    set next_digest_at = case when c.cadence <> 'immediate' then private.next_local_time(
      at_moment, c.time_zone, c.digest_time, case when c.cadence = 'weekly' then c.digest_weekday end
    ) end
    where c.workspace_id = channel.workspace_id and c.id = channel.id;
  end loop;
  return count;
end
$$;
grant execute on function private.make_digests(integer) to outlay_service, service_role;
