-- What a member records by hand goes the way of every message: under a key, which attributes it, counts it and is asked
-- first. This key is the member's own, one a workspace and environment. It has no secret; the service names it by its id
-- once it has seen who is signed in.
create unique index api_keys_member_idx on public.api_keys (workspace_id, created_by, environment) where kind = 'member';

-- The signed-in member's own key, made at its first use and named after them. Null where they may not record.
create function private.member_key(workspace uuid, key_environment text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.api_keys;
  person text;
begin
  select coalesce(p.display_name, p.email) into person
  from public.workspace_members as m
  join public.profiles as p on p.id = m.user_id
  where m.workspace_id = workspace and m.user_id = auth.uid() and m.role in ('owner', 'admin', 'member');
  if person is null then
    return null;
  end if;
  select * into known from public.api_keys as k
  where k.workspace_id = workspace and k.created_by = auth.uid() and k.environment = key_environment and k.kind = 'member';
  if known.id is null or known.name <> left(person, 120) then
    insert into public.api_keys as k
      (workspace_id, name, prefix, last_four, kind, permissions, conditions, environment, created_by)
    values (
      workspace, left(person, 120), 'member', 'none', 'member', array['log_usage', 'add_expenses', 'manage_subscriptions'],
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;
revoke all on function private.member_key(uuid, text) from public;
grant execute on function private.member_key(uuid, text) to outlay_service, service_role;
