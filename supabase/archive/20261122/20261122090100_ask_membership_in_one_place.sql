-- Memberships, roles and second factors are checked in private.member_workspaces, permissions in
-- private.permissions_of_role. The function for the key under which members record read the table itself and listed the
-- permissions again, so that a session without its second factor received a key.

-- The signed-in member's own key. It is created when first needed and named after the member. Null if they may not record.
-- It may read summaries, because an allocation by percent reveals what its source has spent.
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
      workspace, left(person, 120), 'member', 'none', 'member', private.permissions_of_role('member'),
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;
