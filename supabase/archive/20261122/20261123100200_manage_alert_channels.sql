-- How admins change alert channels: each function checks the role again, by the user in the transaction's claims.
create index alert_channels_id_idx on public.alert_channels (id);

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
revoke all on function private.require_admin_of(uuid) from public;

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
    set disabled_at = coalesce(c.disabled_at, now()), disabled_reason = 'by_admin', tell_owners_at = null
    where c.workspace_id = workspace and c.id = channel and c.disabled_reason is distinct from 'by_admin';
    perform private.cancel_alert_deliveries(workspace, channel);
  elsif changes -> 'is_disabled' = 'false' then
    update public.alert_channels as c
    set disabled_at = null, disabled_reason = null, failing_since = null, tell_owners_at = null
    where c.workspace_id = workspace and c.id = channel and c.disabled_at is not null;
    if found then
      update public.alert_deliveries as d
      set next_attempt_at = now()
      where d.channel_id = channel and d.workspace_id = workspace and d.state = 'pending' and d.lease is null;
    end if;
  end if;
end
$$;

-- Cancels what a channel has not sent. What is being sent at this moment ends by itself.
create function private.cancel_alert_deliveries(workspace uuid, channel uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.alert_deliveries as d
  set state = 'cancelled'
  where d.channel_id = channel and d.workspace_id = workspace and d.state = 'pending' and d.lease is null
$$;

-- Deletes a channel and its secrets. Its log stays, and what it has not sent is cancelled.
create function private.remove_alert_channel(workspace uuid, channel uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_channels where workspace_id = workspace and id = channel;
  perform private.cancel_alert_deliveries(workspace, channel);
end
$$;

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

-- Queues a dead delivery again, for another three days.
-- returns: null where it is queued, otherwise why not: 'not_dead', or 'disabled' (the channel is, or was deleted)
create function private.resend_alert_delivery(workspace uuid, delivery uuid)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  of_channel uuid := (select channel_id from public.alert_deliveries where workspace_id = workspace and id = delivery);
begin
  perform private.require_admin_of(workspace);
  perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
  if not found then
    return 'disabled';
  end if;
  update public.alert_deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = delivery and state = 'dead' and alert_id is not null;
  return case when not found then 'not_dead' end;
end
$$;

revoke all on function
  private.add_alert_channel(uuid, jsonb, jsonb, integer),
  private.change_alert_channel(uuid, uuid, jsonb),
  private.cancel_alert_deliveries(uuid, uuid),
  private.remove_alert_channel(uuid, uuid),
  private.rotate_channel_secret(uuid, uuid, text, integer),
  private.resend_alert_delivery(uuid, uuid)
from public;
grant execute on function
  private.add_alert_channel(uuid, jsonb, jsonb, integer),
  private.change_alert_channel(uuid, uuid, jsonb),
  private.remove_alert_channel(uuid, uuid),
  private.rotate_channel_secret(uuid, uuid, text, integer),
  private.resend_alert_delivery(uuid, uuid)
to outlay_service, service_role;
