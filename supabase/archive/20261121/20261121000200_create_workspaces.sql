create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  email text not null,
  display_name text check (char_length(display_name) between 1 and 120),
  avatar_url text check (char_length(avatar_url) <= 2048),
  default_workspace_id uuid,
  created_at timestamptz not null default now()
);

create table public.workspaces (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (char_length(name) between 1 and 120),
  type text not null default 'team' check (type in ('personal', 'team', 'demo')),
  description text check (char_length(description) <= 1000),
  base_currency text not null default 'USD' check (base_currency ~ '^[A-Z]{3}$'),
  -- Counts the changes of the workspace's prices, so that a process can tell at a glance whether those it remembers hold.
  prices_version bigint not null default 0,
  created_at timestamptz not null default now()
);

alter table public.profiles
  add constraint profiles_default_workspace_id_fkey
  foreign key (default_workspace_id) references public.workspaces (id) on delete set null;

create table public.workspace_members (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  user_id uuid not null references public.profiles (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);

create index profiles_default_workspace_id_idx on public.profiles (default_workspace_id);
create index workspace_members_user_id_idx on public.workspace_members (user_id);

-- The workspaces of the signed-in user. A definer, so that the policy of workspace_members can ask it without
-- asking itself; executable by the roles whose policies name it, though they cannot name it themselves.
create function private.member_workspaces(required_roles text[] default array['owner', 'admin', 'member', 'viewer'])
returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select workspace_id
  from public.workspace_members
  where user_id = (select auth.uid()) and role = any (required_roles)
$$;
revoke all on function private.member_workspaces(text[]) from public;
grant execute on function private.member_workspaces(text[]) to authenticated;

alter table public.profiles enable row level security;
alter table public.workspaces enable row level security;
alter table public.workspace_members enable row level security;

revoke all on public.profiles, public.workspaces, public.workspace_members from anon, authenticated, service_role;
grant select on public.profiles, public.workspaces, public.workspace_members to authenticated;
grant all on public.profiles, public.workspaces, public.workspace_members to service_role;

create policy "A user reads their own profile and those of their workspaces' members"
  on public.profiles for select to authenticated
  using (
    id = (select auth.uid())
    or id in (
      select members.user_id
      from public.workspace_members as members
      where members.workspace_id in (select private.member_workspaces())
    )
  );

create policy "A member reads their workspaces"
  on public.workspaces for select to authenticated
  using (id in (select private.member_workspaces()));

create policy "A member reads who else is in their workspaces"
  on public.workspace_members for select to authenticated
  using (workspace_id in (select private.member_workspaces()));
