-- A project is identified by its slug and created by the first message that names it. Slugs never change, because keys,
-- budgets and clients contain them. The name may change.
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

-- The calling key's claims --------------------------------------------------------------------------------------------

-- What the calling key may see, as the guard wrote it into the transaction:
-- { id, workspace_id, environment, allow: [project slug] | null, deny: [project slug] }.
-- Security definer, because a policy's functions run as the reader, who has no access to this schema.
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

-- Access --------------------------------------------------------------------------------------------------------------

-- Members may change a project's name and archive it; they may not change its slug and its costs. An archived project is
-- not offered in selections. Nothing else changes: it counts in every sum, and messages to it are recorded.
alter table public.projects enable row level security;
revoke all on public.projects from anon, authenticated, service_role;
grant select, update (name, archived_at) on public.projects to authenticated;
grant select on public.projects to outlay_key;
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

create policy "A member renames and archives the projects of their workspaces"
  on public.projects for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])));

create trigger projects_are_audited
  after update on public.projects
  for each row when ((old.name, old.archived_at) is distinct from (new.name, new.archived_at))
  execute function private.audit_change('project');

-- A project is archived at the current time, whatever time the statement gives, and only once.
create function private.date_archiving()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.archived_at := coalesce(old.archived_at, now());
  return new;
end
$$;
revoke all on function private.date_archiving() from public;

create trigger archiving_is_dated
  before update of archived_at on public.projects
  for each row when (new.archived_at is not null)
  execute function private.date_archiving();
