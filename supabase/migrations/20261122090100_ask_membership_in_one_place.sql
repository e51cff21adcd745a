-- Who is a member, with what role and with a second factor proved where one is needed, stands in private.member_workspaces;
-- what a member may do, in private.permissions_of_role. The key that members record under asked the table itself and
-- listed the permissions once more, so that a session without its second factor was given one.

-- The signed-in member's own key, made at its first use and named after them. Null where they may not record.
-- It may read summaries, as an allocation by percent tells what its source has spent.
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
