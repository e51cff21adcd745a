-- What a role holds stands in one place: private.permissions_of_role. What the signed-in user holds is asked of it.
create or replace function private.held_permissions(workspace uuid)
returns text[]
language sql stable security definer set search_path = ''
as $$
  select private.permissions_of_role(role)
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$$;
