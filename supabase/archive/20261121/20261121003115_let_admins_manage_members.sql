-- Roles are given and taken by those above them, as themselves: an owner everybody's, an admin everybody's but an owner's.
-- Whoever wants to, leaves.
grant update (role), delete on public.workspace_members to authenticated;

create policy "An owner changes every role, an admin all below an owner's"
  on public.workspace_members for update to authenticated
  using (
    workspace_id in (select private.member_workspaces(array['owner']))
    or (role <> 'owner' and workspace_id in (select private.member_workspaces(array['admin'])))
  )
  with check (
    workspace_id in (select private.member_workspaces(array['owner']))
    or (role <> 'owner' and workspace_id in (select private.member_workspaces(array['admin'])))
  );

create policy "A member leaves, an owner removes everybody, an admin all below an owner"
  on public.workspace_members for delete to authenticated
  using (
    user_id = (select auth.uid())
    or workspace_id in (select private.member_workspaces(array['owner']))
    or (role <> 'owner' and workspace_id in (select private.member_workspaces(array['admin'])))
  );

-- A workspace keeps an owner, whoever writes and however many at once: the workspace's row is locked before its other
-- owners are looked for. A workspace that is deleted takes its last owner with it, and so does an account.
create function private.keep_an_owner()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and new.role = 'owner' then
    return new;
  end if;
  perform from public.workspaces where id = old.workspace_id for no key update;
  if found
    and exists (select from public.profiles where id = old.user_id)
    and not exists (
      select from public.workspace_members
      where workspace_id = old.workspace_id and role = 'owner' and user_id <> old.user_id
    )
  then
    raise exception 'a workspace keeps at least one owner'
      using errcode = 'check_violation', constraint = 'workspace_members_keep_an_owner';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;
revoke all on function private.keep_an_owner() from public;

create trigger keep_an_owner
  before update of role or delete on public.workspace_members
  for each row when (old.role = 'owner')
  execute function private.keep_an_owner();

create trigger members_are_audited
  after insert or update of role or delete on public.workspace_members
  for each row execute function private.audit_change('member');

-- A default workspace that one has left is none.
create function private.forget_left_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.profiles set default_workspace_id = null
  where id = old.user_id and default_workspace_id = old.workspace_id;
  return null;
end
$$;
revoke all on function private.forget_left_workspace() from public;

create trigger forget_left_workspace
  after delete on public.workspace_members
  for each row execute function private.forget_left_workspace();
