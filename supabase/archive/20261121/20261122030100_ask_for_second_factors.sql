-- Whoever has a second factor is somebody to the database only once their session has proved it: `aal` in the token's claims
-- says so, as Supabase Auth writes it. Every policy of a workspace asks private.member_workspaces, so this is where it holds.

-- Any verified factor, of whatever type. On hosted Supabase the owner of this function may read auth.mfa_factors.
create function private.has_verified_factor(holder uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from auth.mfa_factors where user_id = holder and status = 'verified')
$$;

-- Whether the session of the transaction's claims has proved a second factor.
create function private.proved_second_factor()
returns boolean
language sql stable set search_path = ''
as $$
  select coalesce(auth.jwt() ->> 'aal' in ('aal2', 'aal3'), false)
$$;

-- Whether the signed-in user's session has proved all that the user set up.
create function private.session_is_complete()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select private.proved_second_factor() or not private.has_verified_factor(auth.uid())
$$;

revoke all on function private.has_verified_factor(uuid), private.proved_second_factor(), private.session_is_complete() from public;
grant execute on function private.has_verified_factor(uuid) to outlay_service, service_role;
grant execute on function private.proved_second_factor(), private.session_is_complete() to authenticated;

alter table public.workspaces add column require_mfa boolean not null default false;
comment on column public.workspaces.require_mfa is 'Whether the workspace is there only for sessions that proved a second factor.';

create or replace function private.member_workspaces(required_roles text[] default array['owner', 'admin', 'member', 'viewer'])
returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select m.workspace_id
  from public.workspace_members as m
  where m.user_id = (select auth.uid()) and m.role = any (required_roles)
    and (
      (select private.proved_second_factor())
      or (
        (select private.session_is_complete())
        and not (select w.require_mfa from public.workspaces as w where w.id = m.workspace_id)
      )
    )
$$;

-- What policies let people do without being a member of anything: make a workspace, leave one, change their profile.
create policy "A session proves its user's second factor before it makes or changes a workspace"
  on public.workspaces as restrictive for all to authenticated
  using ((select private.session_is_complete()));

create policy "A session proves its user's second factor before it touches a membership"
  on public.workspace_members as restrictive for all to authenticated
  using ((select private.session_is_complete()));

create policy "A session proves its user's second factor before it changes their profile"
  on public.profiles as restrictive for update to authenticated
  using ((select private.session_is_complete()));

-- The signed-in user's workspaces that this session does not reach because they require a second factor: what the user is
-- told of them, so that they know where to prove one. Nobody whose session lacks their own factor is told anything.
create function private.locked_workspaces()
returns table (slug text, name text)
language sql stable security definer set search_path = ''
as $$
  select w.slug, w.name
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.require_mfa
    and not private.proved_second_factor() and private.session_is_complete()
  order by w.name, w.slug
$$;
revoke all on function private.locked_workspaces() from public;
grant execute on function private.locked_workspaces() to outlay_service, service_role;
