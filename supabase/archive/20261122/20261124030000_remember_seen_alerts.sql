-- How far each member has looked at the alerts of a workspace: alerts with a higher number are new to them. A member
-- without a row has looked at none; what fired before they joined is not new to them.
create table public.seen_alerts (
  workspace_id uuid not null,
  user_id uuid not null default auth.uid(),
  seen_number bigint not null check (seen_number >= 0),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);

alter table public.seen_alerts enable row level security;
revoke all on public.seen_alerts from anon, authenticated, service_role;
grant select, insert (workspace_id, seen_number), update (seen_number) on public.seen_alerts to authenticated;
grant select on public.seen_alerts to service_role;

create policy "A member reads how far they looked"
  on public.seen_alerts for select to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member notes how far they looked"
  on public.seen_alerts for insert to authenticated
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member notes that they looked further"
  on public.seen_alerts for update to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()))
  with check (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));
