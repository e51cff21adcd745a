-- Views that people save.

-- Views of Explore that people saved: the query of the page's address. A private view is its maker's alone; a shared one is
-- the workspace's. Private ones go with their maker's account.
create table public.saved_views (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  query text not null check (char_length(query) <= 4000),
  is_shared boolean not null default false,
  created_by uuid not null default auth.uid() references public.profiles (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

create index saved_views_created_by_idx on public.saved_views (created_by);

alter table public.saved_views enable row level security;
revoke all on public.saved_views from anon, authenticated, service_role;
grant delete, select on public.saved_views to authenticated;
grant all on public.saved_views to service_role;
grant insert (workspace_id, name, query, is_shared) on public.saved_views to authenticated;

create policy "A member reads their own views and shared ones"
  on public.saved_views for select to authenticated
  using (
    workspace_id in (select private.member_workspaces())
    and (is_shared or created_by = (select auth.uid()))
  );

create policy "A member saves views, all but viewers shared ones"
  on public.saved_views for insert to authenticated
  with check (
    created_by = (select auth.uid())
    and case
      when is_shared then workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
      else workspace_id in (select private.member_workspaces())
    end
  );

create policy "A member deletes their own views, an admin shared ones"
  on public.saved_views for delete to authenticated
  using (
    case
      when created_by = (select auth.uid()) then workspace_id in (select private.member_workspaces())
      else is_shared and workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    end
  );

-- The audit log has no entries about private views.
create trigger new_shared_views_are_audited after insert on public.saved_views
  for each row when (new.is_shared) execute function private.audit_change('saved_view');
create trigger deleted_shared_views_are_audited after delete on public.saved_views
  for each row when (old.is_shared) execute function private.audit_change('saved_view');
