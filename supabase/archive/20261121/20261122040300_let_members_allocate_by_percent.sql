-- An allocation by percent tells what its source has spent, and needs `read_summaries`. Members read all of their
-- workspace's spend; so may the keys under which they record by hand. These have no secret, and read nothing else.
update public.api_keys
set permissions = array_append(permissions, 'read_summaries')
where kind = 'member' and not 'read_summaries' = any (permissions);

-- As before, with `read_summaries`: the signed-in member's own key, made at its first use and named after them. Null where
-- they may not record.
create or replace function private.member_key(workspace uuid, key_environment text)
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
      workspace, left(person, 120), 'member', 'none', 'member', array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries'],
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;
