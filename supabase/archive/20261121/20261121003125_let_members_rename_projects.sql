-- A project's name and whether it is archived are its members' to say; its slug and its costs are not. An archived project
-- is left out where one is chosen from. Nothing else changes: it counts in every sum, and messages to it are recorded.
grant update (name, archived_at) on public.projects to authenticated;

create policy "A member renames and archives the projects of their workspaces"
  on public.projects for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])));

create trigger projects_are_audited
  after update on public.projects
  for each row when ((old.name, old.archived_at) is distinct from (new.name, new.archived_at))
  execute function private.audit_change('project');
