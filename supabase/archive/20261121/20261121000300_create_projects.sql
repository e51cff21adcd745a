-- A project is known by its slug and made by the first message that names it. Slugs never change: keys, budgets and
-- clients hold them. The name may.
create table public.projects (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  name text not null check (char_length(name) between 1 and 120),
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, slug)
);

-- What the calling key may see, as the guard wrote it into the transaction:
-- { id, workspace_id, environment, allow: [project slug] | null, deny: [project slug] }.
-- Definers, because a policy's functions run as the reader, and a reader may not so much as name this schema.
create function private.key_claims()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select nullif(current_setting('request.api_key', true), '')::jsonb
$$;

create function private.key_workspace()
returns uuid
language sql stable security definer set search_path = ''
as $$
  select (private.key_claims() ->> 'workspace_id')::uuid
$$;

create function private.key_environment()
returns text
language sql stable security definer set search_path = ''
as $$
  select private.key_claims() ->> 'environment'
$$;

-- The projects in the key's scope. An allow-list that names no existing project allows none.
create function private.key_projects()
returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select id
  from public.projects
  where workspace_id = private.key_workspace()
    and (
      jsonb_typeof(private.key_claims() -> 'allow') is distinct from 'array'
      or private.key_claims() -> 'allow' ? slug
    )
    and not coalesce(private.key_claims() -> 'deny' ? slug, false)
$$;

create function private.key_is_unconfined()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select jsonb_typeof(private.key_claims() -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(private.key_claims() -> 'deny', '[]')) = 0
$$;

revoke all on function private.key_claims(), private.key_workspace(), private.key_environment(), private.key_projects(),
  private.key_is_unconfined() from public;
grant execute on function private.key_claims(), private.key_workspace(), private.key_environment(), private.key_projects(),
  private.key_is_unconfined() to outlay_key;

alter table public.projects enable row level security;
revoke all on public.projects from anon, authenticated, service_role;
grant select on public.projects to authenticated, outlay_key;
grant all on public.projects to service_role;

create policy "A member reads the projects of their workspaces"
  on public.projects for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads the projects in its scope"
  on public.projects for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and id in (select private.key_projects())
  );
