-- What a role can do by itself, and so the most that its holder can hand on to a program.
create function private.permissions_of_role(role text)
returns text[]
language sql immutable set search_path = ''
as $$
  select case
    when role in ('owner', 'admin', 'member')
      then array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']
    when role = 'viewer' then array['read_summaries']
    else '{}'
  end
$$;
revoke all on function private.permissions_of_role(text) from public;

-- A program that a user let into a workspace, once a user, workspace and client. It is a key that an assistant holds: the
-- row of api_keys with the same id says what it may do and counts what it spends. Deleting the connection is revoking it:
-- its tokens go with it, its key stays, revoked, for what was recorded with it.
create table public.connections (
  workspace_id uuid not null,
  id uuid not null unique,
  user_id uuid not null,
  client_id text not null references private.oauth_clients (id),
  client_kind text not null check (client_kind in ('registered', 'document')),
  client_name text not null,
  client_uri text,
  -- Where the user was last sent back to: of a registered client, the one thing that is no mere claim.
  redirect_uri text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, user_id, client_id),
  foreign key (workspace_id, id) references public.api_keys (workspace_id, id) on delete cascade,
  -- Nobody's program stays in a workspace that they left.
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);
create index connections_client_id_idx on public.connections (client_id);

alter table public.connections enable row level security;
revoke all on public.connections from anon, authenticated, service_role;
grant select, delete on public.connections to authenticated;
grant all on public.connections to service_role;

create policy "A member reads the connections of their workspaces"
  on public.connections for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A member revokes their own connections, an admin every one of the workspace"
  on public.connections for delete to authenticated
  using (
    (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()))
    or workspace_id in (select private.member_workspaces(array['owner', 'admin']))
  );

-- A connection and its key end together, whichever of the two is ended.
create function private.end_key_of_connection()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  update public.api_keys set revoked_at = now()
  where workspace_id = old.workspace_id and id = old.id and revoked_at is null;
  return null;
end
$$;

create function private.end_connection_of_key()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.connections where workspace_id = new.workspace_id and id = new.id;
  return null;
end
$$;

create trigger ended_connections_end_their_keys
  after delete on public.connections
  for each row execute function private.end_key_of_connection();

create trigger ended_keys_end_their_connections
  after update of revoked_at on public.api_keys
  for each row when (new.kind = 'connection' and new.revoked_at is not null)
  execute function private.end_connection_of_key();

-- What a user may no longer do, their programs may no longer do either.
create function private.shrink_connections()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  allowed text[] := private.permissions_of_role(new.role);
begin
  update public.api_keys as k
  set permissions = array(select held from unnest(k.permissions) with ordinality as p (held, place) where held = any (allowed) order by place)
  from public.connections as c
  where c.workspace_id = new.workspace_id and c.user_id = new.user_id
    and k.workspace_id = c.workspace_id and k.id = c.id and not k.permissions <@ allowed;

  delete from public.connections as c
  using public.api_keys as k
  where c.workspace_id = new.workspace_id and c.user_id = new.user_id
    and k.workspace_id = c.workspace_id and k.id = c.id and k.permissions = '{}';
  return null;
end
$$;

create trigger changed_roles_shrink_connections
  after update of role on public.workspace_members
  for each row when (old.role is distinct from new.role)
  execute function private.shrink_connections();

revoke all on function private.end_key_of_connection(), private.end_connection_of_key(), private.shrink_connections() from public;

create trigger connections_are_audited
  after insert or delete on public.connections
  for each row execute function private.audit_change('connection');

create trigger permissions_of_connections_are_audited
  after update on public.api_keys
  for each row when (
    new.kind = 'connection'
    and (old.permissions, old.project_id, old.monthly_limit) is distinct from (new.permissions, new.project_id, new.monthly_limit)
  )
  execute function private.audit_change('connection');
