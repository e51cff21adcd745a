-- Programs that a person connected may take, snooze and resolve alerts in their name. API keys may not.

alter table public.api_keys drop constraint api_keys_permissions_check;
alter table public.api_keys add constraint api_keys_permissions_check
  check (permissions <@ array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries', 'manage_alerts']) not valid;
alter table public.api_keys validate constraint api_keys_permissions_check;
alter table public.api_keys add constraint api_keys_manage_alerts_if_connected
  check (kind = 'connection' or not 'manage_alerts' = any (permissions)) not valid;
alter table public.api_keys validate constraint api_keys_manage_alerts_if_connected;

create or replace function private.permissions_of_role(role text)
returns text[]
language sql immutable set search_path = ''
as $$
  select case
    when role in ('owner', 'admin', 'member')
      then array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries', 'manage_alerts']
    when role = 'viewer' then array['read_summaries']
    else '{}'
  end
$$;

create or replace function private.held_permissions(workspace uuid)
returns text[]
language sql stable security definer set search_path = ''
as $$
  select array_remove(private.permissions_of_role(role), 'manage_alerts')
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$$;

create or replace function private.member_key(workspace uuid, key_environment text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.api_keys;
  person text;
begin
  select coalesce(p.display_name, p.email) into person
  from public.profiles as p
  where p.id = auth.uid() and workspace in (select private.member_workspaces(array['owner', 'admin', 'member']));
  if person is null then
    return null;
  end if;
  select * into known from public.api_keys as k
  where k.workspace_id = workspace and k.created_by = auth.uid() and k.environment = key_environment and k.kind = 'member';
  if known.id is null or known.name <> left(person, 120) then
    insert into public.api_keys as k
      (workspace_id, name, prefix, last_four, kind, permissions, conditions, environment, created_by)
    values (
      workspace, left(person, 120), 'member', 'none', 'member', array_remove(private.permissions_of_role('member'), 'manage_alerts'),
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;

-- Whom the calling key acts for: who connected the program, or who made the key, while they are a member of its workspace. Null
-- for nobody, and for a key of some projects, some users or test data.
-- returns: { id, email, slug }, the slug of the workspace
create function private.person_of_key()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('id', p.id, 'email', p.email, 'slug', w.slug)
  from public.api_keys as k
  join public.workspace_members as m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
  join public.profiles as p on p.id = m.user_id
  join public.workspaces as w on w.id = k.workspace_id
  where k.workspace_id = (private.key_claims() ->> 'workspace_id')::uuid and k.id = (private.key_claims() ->> 'id')::uuid
    and private.key_is_unconfined() and private.key_environment() = 'live'
$$;
revoke execute on function private.person_of_key() from public;
grant execute on function private.person_of_key() to outlay_key;
