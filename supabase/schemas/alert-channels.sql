-- Where alerts are sent to, and how admins change that.

-- Where a workspace's alerts are sent. `target` is what people see of the address: a host, or mail addresses. Everything
-- that gives access (an address with its path, a routing key, the secrets that sign) is in private.channel_secrets.
create table public.alert_channels (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  kind text not null check (kind in ('webhook', 'slack', 'discord', 'teams', 'pagerduty', 'email')),
  target text not null check (char_length(target) between 1 and 2600),
  -- Null: every rule.
  rules text[] check (cardinality(rules) between 1 and 20),
  -- Alerts of a lower percentage are not sent; null: all are.
  least_percent integer check (least_percent between 1 and 1000),
  disabled_at timestamptz,
  -- failing: by the service, after a day of failures. gone: by the service, after a 410. by_admin: by a person.
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'by_admin')),
  -- The first of the failures since the last success.
  failing_since timestamptz,
  secret_set_at timestamptz not null default now(),
  created_by uuid references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  cadence text not null default 'immediate'
    constraint alert_channels_cadence_check check (cadence in ('immediate', 'daily', 'weekly')),
  digest_time time not null default '09:00',
  -- 1 is Monday, 7 is Sunday.
  digest_weekday smallint not null default 1
    constraint alert_channels_digest_weekday_check check (digest_weekday between 1 and 7),
  time_zone text not null default 'UTC'
    constraint alert_channels_time_zone_is_short check (char_length(time_zone) between 1 and 64),
  -- When the next digest is made; null where none is planned.
  next_digest_at timestamptz,
  primary key (workspace_id, id),
  check ((disabled_at is null) = (disabled_reason is null))
);

create index alert_channels_created_by_idx on public.alert_channels (created_by);
-- How admins change alert channels: each function checks the role again, by the user in the transaction's claims.
create index alert_channels_id_idx on public.alert_channels (id);
create index alert_channels_next_digest_idx on public.alert_channels (next_digest_at) where next_digest_at is not null;

alter table public.alert_channels enable row level security;
revoke all on public.alert_channels from anon, authenticated, service_role;
grant select on public.alert_channels to authenticated, service_role;

create policy "A member reads the alert channels of their workspaces"
  on public.alert_channels for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create trigger made_alert_channels_are_audited
  after insert or delete on public.alert_channels
  for each row execute function private.audit_change('alert_channel');

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

-- What a channel needs to send, which only the functions of the service read.
create table private.channel_secrets (
  workspace_id uuid not null,
  channel_id uuid not null,
  -- The address of a webhook, of Slack, Discord or Teams; PagerDuty's routing key; null for mail.
  address text check (char_length(address) between 1 and 2048),
  -- The secret that signs a webhook, and while it is being rotated the one before.
  signing_secret text check (char_length(signing_secret) between 16 and 256),
  old_signing_secret text check (char_length(old_signing_secret) between 16 and 256),
  old_ends_at timestamptz,
  -- The signing secret of the Slack app that posts to the channel, sealed by lib/seal.ts for this channel, and the admin who set it.
  slack_secret text constraint channel_secrets_slack_secret_is_sealed check (char_length(slack_secret) between 40 and 2000),
  slack_secret_by uuid references public.profiles (id) on delete set null,
  primary key (workspace_id, channel_id),
  foreign key (workspace_id, channel_id) references public.alert_channels (workspace_id, id) on delete cascade
);

create index channel_secrets_slack_secret_by_idx on private.channel_secrets (slack_secret_by);

alter table private.channel_secrets enable row level security;
revoke all on private.channel_secrets from anon, authenticated, service_role;

-- Whether clicks in Slack are accepted from a channel: it has a signing secret, and whoever set it is an owner or admin still.
-- Who knows the secret can sign clicks in the name of others, so that of a former admin is of no use.
create function private.takes_clicks(s private.channel_secrets)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select s.slack_secret is not null and exists (
    select from public.workspace_members as m
    where m.workspace_id = s.workspace_id and m.user_id = s.slack_secret_by and m.role in ('owner', 'admin')
  )
$$;

-- The same of a channel of one of the caller's workspaces, whose secrets the caller does not read.
create function private.has_buttons(channel public.alert_channels)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select private.takes_clicks(s) from private.channel_secrets as s
    where s.workspace_id = channel.workspace_id and s.channel_id = channel.id
      and s.workspace_id in (select private.member_workspaces())
  ), false)
$$;
grant execute on function private.has_buttons(public.alert_channels) to authenticated, service_role;

-- Each channel with whether its messages about budget requests have buttons. Read with the caller's own rights.
create view public.alert_channel_buttons with (security_invoker = true) as
select c.workspace_id, c.id as channel_id, private.has_buttons(c) as has_buttons
from public.alert_channels as c;

revoke all on public.alert_channel_buttons from anon, authenticated, service_role;
grant select on public.alert_channel_buttons to authenticated, service_role;

create function private.require_admin_of(workspace uuid)
returns void
language plpgsql stable security definer set search_path = ''
as $$
begin
  if not exists (
    select from private.member_workspaces(array['owner', 'admin']) as administered where administered = workspace
  ) then
    raise exception 'only an admin of the workspace may do this' using errcode = 'insufficient_privilege';
  end if;
end
$$;

-- channel: { name, kind, target, rules, least_percent }; secrets: { address, signing_secret }
-- returns: the id, or null where the workspace has `at_most` channels already
create function private.add_alert_channel(workspace uuid, channel jsonb, secrets jsonb, at_most integer)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  added uuid;
begin
  perform private.require_admin_of(workspace);
  -- Locks the workspace, so that two channels added at once are both counted.
  perform from public.workspaces where id = workspace for no key update;
  if (select count(*) >= at_most from public.alert_channels where workspace_id = workspace) then
    return null;
  end if;
  insert into public.alert_channels (workspace_id, name, kind, target, rules, least_percent, created_by)
  select workspace, c.name, c.kind, c.target, c.rules, c.least_percent, auth.uid()
  from jsonb_to_record(channel) as c (name text, kind text, target text, rules text[], least_percent integer)
  returning id into added;
  insert into private.channel_secrets (workspace_id, channel_id, address, signing_secret)
  values (workspace, added, secrets ->> 'address', secrets ->> 'signing_secret');
  return added;
end
$$;
grant execute on function private.add_alert_channel(uuid, jsonb, jsonb, integer) to outlay_service, service_role;

-- Changes the fields that are given. A channel that is enabled again sends what is left in its queue at once; one that a
-- person disables drops it.
--
-- changes: { name, target, rules, least_percent, is_disabled, address }, any of them
create function private.change_alert_channel(workspace uuid, channel uuid, changes jsonb)
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
grant execute on function private.change_alert_channel(uuid, uuid, jsonb) to outlay_service, service_role;

-- Deletes a channel and its secrets. Its log stays, and what it has not sent is cancelled.
create function private.remove_alert_channel(workspace uuid, channel uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_channels where workspace_id = workspace and id = channel;
  perform private.cancel_deliveries(workspace, channel);
end
$$;
grant execute on function private.remove_alert_channel(uuid, uuid) to outlay_service, service_role;

-- Sets a new secret that signs. The present one signs beside it for some time, so that receivers can change over.
-- returns: until when; null where the channel signs nothing
create function private.rotate_channel_secret(workspace uuid, channel uuid, new_secret text, overlap_seconds integer)
returns timestamptz
language plpgsql volatile security definer set search_path = ''
as $$
declare
  ends_at timestamptz := now() + overlap_seconds * interval '1 second';
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels set secret_set_at = now()
  where workspace_id = workspace and id = channel and kind = 'webhook';
  update private.channel_secrets
  set old_signing_secret = signing_secret, old_ends_at = ends_at, signing_secret = new_secret
  where workspace_id = workspace and channel_id = channel and signing_secret is not null;
  return case when found then ends_at end;
end
$$;
grant execute on function private.rotate_channel_secret(uuid, uuid, text, integer) to outlay_service, service_role;
