-- Projects of a workspace.

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

alter table public.projects enable row level security;
revoke all on public.projects from anon, authenticated, service_role;
grant select on public.projects to authenticated, outlay_key;
grant all on public.projects to service_role;
grant update (name, archived_at) on public.projects to authenticated;

create policy "A member reads the projects of their workspaces"
  on public.projects for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create function private.key_workspace()
returns uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (private.key_claims() ->> 'workspace_id')::uuid;
end
$$;
grant execute on function private.key_workspace() to outlay_key;

-- The projects in the key's scope. An allow-list that names no existing project allows none.
create function private.key_projects()
returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
declare
  claims jsonb := private.key_claims();
begin
  return query
    select id
    from public.projects
    where workspace_id = (claims ->> 'workspace_id')::uuid
      and (jsonb_typeof(claims -> 'allow') is distinct from 'array' or claims -> 'allow' ? slug)
      and not coalesce(claims -> 'deny' ? slug, false);
end
$$;
grant execute on function private.key_projects() to outlay_key;

create function private.key_is_unconfined()
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0
    and jsonb_typeof(claims -> 'users') is distinct from 'array';
end
$function$;
grant execute on function private.key_is_unconfined() to outlay_key;

-- A key that is confined to no projects reads every project of its workspace. The policy asks for the list of its projects
-- only if the key is confined: listing them took a tenth of the database's time in a month's summary.
create policy "A key reads the projects in its scope"
  on public.projects for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and ((select private.key_is_unconfined()) or id in (select private.key_projects()))
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

create trigger archiving_is_dated
  before update of archived_at on public.projects
  for each row when (new.archived_at is not null)
  execute function private.date_archiving();

-- What the calling key may see, as the guard wrote it into the transaction:
-- { id, workspace_id, environment, allow: [project slug] | null, deny: [project slug], users: [name] | absent }.
-- Security definer, because a policy's functions run as the reader, who has no access to this schema.
create function private.key_claims()
 returns jsonb
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return nullif(current_setting('request.api_key', true), '')::jsonb;
end
$function$;
grant execute on function private.key_claims() to outlay_key;

create function private.key_environment()
returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return private.key_claims() ->> 'environment';
end
$$;
grant execute on function private.key_environment() to outlay_key;
