-- The members of workspaces, and what of each other they see.

create table public.workspace_members (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  user_id uuid not null references public.profiles (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);

create index workspace_members_user_id_idx on public.workspace_members (user_id);

alter table public.workspace_members enable row level security;
revoke all on public.workspace_members from anon, authenticated, service_role;
grant delete, select on public.workspace_members to authenticated;
grant all on public.workspace_members to service_role;
-- Owners may change every member's role, admins every role but an owner's. Every member may leave.
grant update (role) on public.workspace_members to authenticated;

create policy "A member reads who else is in their workspaces"
  on public.workspace_members for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

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

create policy "A member leaves, an owner removes all, an admin all but owners"
  on public.workspace_members for delete to authenticated
  using (
    user_id = (select auth.uid())
    or workspace_id in (select private.member_workspaces(array['owner']))
    or (role <> 'owner' and workspace_id in (select private.member_workspaces(array['admin'])))
  );

create policy "A session proves a second factor to change a membership"
  on public.workspace_members as restrictive for all to authenticated
  using ((select private.session_is_complete()));

create policy "A user reads their own profile and those of fellow members"
  on public.profiles for select to authenticated
  using (
    id = (select auth.uid())
    or id in (
      select members.user_id
      from public.workspace_members as members
      where members.workspace_id in (select private.member_workspaces())
    )
  );

create policy "A session proves a second factor to change a profile"
  on public.profiles as restrictive for update to authenticated
  using ((select private.session_is_complete()));

-- A user may change their name while their default workspace is one that they cannot use at the moment.
create function private.own_default_workspace()
returns uuid
language sql stable security definer set search_path = ''
as $$
  select p.default_workspace_id from public.profiles as p where p.id = auth.uid()
$$;
grant execute on function private.own_default_workspace() to authenticated;

create policy "A user edits their profile and picks among their workspaces"
  on public.profiles for update to authenticated
  using (id = (select auth.uid()))
  with check (
    id = (select auth.uid())
    and (
      default_workspace_id is null
      or default_workspace_id in (select private.member_workspaces())
      or default_workspace_id = (select private.own_default_workspace())
    )
  );

-- Any verified factor, of any type. On hosted Supabase the owner of this function may read auth.mfa_factors.
create function private.has_verified_factor(holder uuid)
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (select from auth.mfa_factors where user_id = holder and status = 'verified');
end
$$;
grant execute on function private.has_verified_factor(uuid) to outlay_service, service_role;

-- Whether the session of the transaction's claims has proved a second factor.
create function private.proved_second_factor()
returns boolean
language sql stable set search_path = ''
as $$
  select coalesce(auth.jwt() ->> 'aal' in ('aal2', 'aal3'), false)
$$;
grant execute on function private.proved_second_factor() to authenticated;

-- The signed-in user's workspaces that this session cannot read because they require a second factor, so that the user
-- learns where to prove one. Returns nothing to a session that lacks its own user's factor.
create function private.locked_workspaces()
returns table (slug text, name text)
language sql stable security definer set search_path = ''
as $$
  select w.slug, w.name
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.require_mfa and w.deleted_at is null
    and not private.proved_second_factor() and private.session_is_complete()
  order by w.name, w.slug
$$;
grant execute on function private.locked_workspaces() to outlay_service, service_role;
