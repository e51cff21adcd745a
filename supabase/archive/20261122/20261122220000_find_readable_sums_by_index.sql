-- As `= any (array(…))` the condition of a policy can be one of an index: Postgres compares it with the workspace or project
-- that the statement names once per scan. As `in (select …)` it was a filter, asked for every row, thousands per read.
alter policy "A member reads the daily totals of their workspaces" on public.daily_totals
  using (workspace_id = any (array(select private.member_workspaces())));
alter policy "A member reads the daily spend of their workspaces" on public.daily_spend
  using (workspace_id = any (array(select private.member_workspaces())));
alter policy "A key reads the daily spend of its environment and projects" on public.daily_spend
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and project_id = any (array(select private.key_projects()))
  );
