-- A user makes workspaces of teams, as themselves, and owns them; its admins say what it is called. The slug stays: links
-- and clients hold it.
grant insert (id, slug, name, description, base_currency), update (name, description, base_currency)
  on public.workspaces to authenticated;

create policy "A user makes workspaces of teams"
  on public.workspaces for insert to authenticated
  with check (type = 'team' and (select auth.uid()) is not null);

create policy "An admin changes what their workspaces are called"
  on public.workspaces for update to authenticated
  using (id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (id in (select private.member_workspaces(array['owner', 'admin'])));

-- Who makes a workspace owns it from the same statement on: there is never one without an owner, nor one person with
-- hundreds. The service and its owner make workspaces without one (the demo, a personal one that is about to get its).
create function private.own_new_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most constant integer := 20;
begin
  -- Locked, so that two made at once count each other.
  perform from public.profiles where id = auth.uid() for no key update;
  if (
    select count(*) >= most
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = auth.uid() and m.role = 'owner' and w.type = 'team'
  ) then
    raise exception 'one person may own at most % workspaces', most
      using errcode = 'check_violation', constraint = 'workspaces_owned_at_most';
  end if;
  insert into public.workspace_members (workspace_id, user_id, role) values (new.id, auth.uid(), 'owner');
  return null;
end
$$;
revoke all on function private.own_new_workspace() from public;

create trigger makers_own_their_workspaces
  after insert on public.workspaces
  for each row when (new.type = 'team' and auth.uid() is not null)
  execute function private.own_new_workspace();

create trigger made_workspaces_are_audited
  after insert on public.workspaces
  for each row when (auth.uid() is not null)
  execute function private.audit_change('workspace');

-- Other columns are the service's own counters.
create trigger workspaces_are_audited
  after update on public.workspaces
  for each row when (
    (old.slug, old.name, old.type, old.description, old.base_currency)
    is distinct from (new.slug, new.name, new.type, new.description, new.base_currency)
  )
  execute function private.audit_change('workspace');
