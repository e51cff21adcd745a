-- A channel is sent each alert at once, or a digest of what was collected since the last one: each day, or each week on one
-- day, at a time of its own time zone.
alter table public.alert_channels
  add column cadence text not null default 'immediate'
    constraint alert_channels_cadence_check check (cadence in ('immediate', 'daily', 'weekly')),
  add column digest_time time not null default '09:00',
  -- 1 is Monday, 7 is Sunday.
  add column digest_weekday smallint not null default 1
    constraint alert_channels_digest_weekday_check check (digest_weekday between 1 and 7),
  add column time_zone text not null default 'UTC'
    constraint alert_channels_time_zone_is_short check (char_length(time_zone) between 1 and 64),
  -- When the next digest is made; null where none is planned.
  add column next_digest_at timestamptz;
create index alert_channels_next_digest_idx on public.alert_channels (next_digest_at) where next_digest_at is not null;

drop trigger alert_channels_are_audited on public.alert_channels;
-- Other columns are the service's own state and are not audited.
create trigger alert_channels_are_audited
  after update on public.alert_channels
  for each row when (
    (old.name, old.target, old.rules, old.least_percent, old.disabled_at, old.disabled_reason, old.secret_set_at, old.cadence,
      old.digest_time, old.digest_weekday, old.time_zone)
    is distinct from
    (new.name, new.target, new.rules, new.least_percent, new.disabled_at, new.disabled_reason, new.secret_set_at, new.cadence,
      new.digest_time, new.digest_weekday, new.time_zone)
  )
  execute function private.audit_change('alert_channel');

-- `collected`: an alert that waits for the digest, or was sent with it: then `digest_id` is the delivery of the digest, whose
-- outcome is its own. A delivery with `digest_at`, the time that was planned, is a digest.
alter table public.alert_deliveries
  drop constraint alert_deliveries_state_check,
  add constraint alert_deliveries_state_check
    check (state in ('pending', 'delivered', 'dead', 'cancelled', 'collected')),
  add column digest_at timestamptz,
  add column digest_id uuid,
  add constraint alert_deliveries_digest_id_fkey foreign key (workspace_id, digest_id)
    references public.alert_deliveries (workspace_id, id) on delete cascade,
  add constraint alert_deliveries_tell_one_thing check (alert_id is null or digest_at is null),
  add constraint alert_deliveries_of_digests_tell_alerts check (digest_id is null or (alert_id is not null and state = 'collected'));
-- Each digest is made once, whatever the number of processes.
create unique index alert_deliveries_digest_at_key on public.alert_deliveries (channel_id, digest_at) where digest_at is not null;
create index alert_deliveries_collected_idx on public.alert_deliveries (channel_id, number)
  where state = 'collected' and digest_id is null;
create index alert_deliveries_digest_idx on public.alert_deliveries (workspace_id, digest_id) where digest_id is not null;

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
revoke execute on function private.plan_digest() from public;
create trigger alert_channels_plan_digests before update of cadence, digest_time, digest_weekday, time_zone
  on public.alert_channels for each row
  when (
    (old.cadence, old.digest_time, old.digest_weekday, old.time_zone)
    is distinct from (new.cadence, new.digest_time, new.digest_weekday, new.time_zone)
  )
  execute function private.plan_digest();

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
revoke execute on function private.set_channel_digest(uuid, uuid, jsonb) from public;
grant execute on function private.set_channel_digest(uuid, uuid, jsonb) to outlay_service, service_role;

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
revoke execute on function private.collect_for_digest() from public;
create trigger alert_deliveries_wait_for_digests before insert on public.alert_deliveries
  for each row when (new.alert_id is not null and new.state = 'pending')
  execute function private.collect_for_digest();

-- Makes the digests that are due: one delivery with all that a channel has collected, and none where there is nothing. The
-- channel is locked, and the next digest planned, in the same transaction. A service that was away makes one for all of the
-- time. A channel that is off makes none before it is on again. returns: how many it made
create function private.make_digests(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
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
revoke execute on function private.make_digests(integer) from public;
grant execute on function private.make_digests(integer) to outlay_service, service_role;
