-- Alerts of a channel, collected for a daily or weekly digest.

-- Plans a channel's next digest where its cadence, time, weekday or zone changed. If the channel now sends alerts at once, the
-- alerts collected so far are sent as one last digest.
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

-- Keeps an alert for the digest if its channel has one. Locks the channel, so that a change of its cadence waits for this
-- transaction and sends what it collected.
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

create trigger deliveries_wait_for_digests before insert on public.deliveries
  for each row when (new.kind = 'alert' and new.state = 'pending')
  execute function private.collect_for_digest();

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
