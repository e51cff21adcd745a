-- OAuth clients, and the connections of users to them.

-- When a workspace begins to require a second factor, its connections end, because their users may not have proved one. A
-- session that has proved one can connect them again. API keys belong to the workspace and not to a user, so they stay.
create function private.end_connections_of_lesser_sessions()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.oauth_authorizations where workspace_id = new.id;
  delete from public.connections where workspace_id = new.id;
  return null;
end
$$;

create trigger required_mfa_ends_connections
  after update of require_mfa on public.workspaces
  for each row when (new.require_mfa and not old.require_mfa)
  execute function private.end_connections_of_lesser_sessions();

-- When a user loses permissions, their connections lose them too.
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

create function private.end_connection_of_key()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.connections where workspace_id = new.workspace_id and id = new.id;
  return null;
end
$$;

create trigger ended_keys_end_their_connections
  after update of revoked_at on public.api_keys
  for each row when (new.kind = 'connection' and new.revoked_at is not null)
  execute function private.end_connection_of_key();

-- Programs that may ask a user for a connection. All are public clients, because a program on a user's machine cannot keep
-- a secret; PKCE and the exact redirect bind a code to its client.
--
-- registered   registered itself at /oauth/register (RFC 7591); its name is its own claim
-- document     its id is the https address of its metadata document, which was fetched from there
create table private.oauth_clients (
  id text primary key check (char_length(id) between 1 and 2048),
  kind text not null check (kind in ('registered', 'document')),
  name text not null check (char_length(name) between 1 and 120),
  uri text check (char_length(uri) <= 2048),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
  created_at timestamptz not null default now(),
  -- When the client last asked a user; null for a client that only registered.
  last_asked_at timestamptz
);

create index oauth_clients_created_at_idx on private.oauth_clients (created_at);
-- Anybody may register a client, so the number of those that never asked a user is bounded: the newest stay, and the
-- oldest are deleted. Clients that asked a user are not counted and never deleted here.
create index oauth_clients_unused_idx on private.oauth_clients (created_at desc)
where kind = 'registered' and last_asked_at is null;

alter table private.oauth_clients enable row level security;
revoke all on private.oauth_clients from anon, authenticated, service_role;

-- Stores a client; a document replaces what was stored. client: { id, kind, name, uri, redirect_uris }
create function private.save_oauth_client(client jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.oauth_clients as known (id, kind, name, uri, redirect_uris)
  select id, kind, name, uri, redirect_uris
  from jsonb_to_record(client) as c (id text, kind text, name text, uri text, redirect_uris text[])
  on conflict (id) do update set name = excluded.name, uri = excluded.uri, redirect_uris = excluded.redirect_uris
  where known.kind = 'document' and excluded.kind = 'document'
$$;
grant execute on function private.save_oauth_client(jsonb) to outlay_service, service_role;

-- client: { id, kind: registered, name, uri, redirect_uris }
create function private.register_oauth_client(client jsonb, at_most_unused integer)
returns void
language sql volatile security definer set search_path = ''
as $$
  select private.save_oauth_client(client);
  delete from private.oauth_clients where id in (
    select id from private.oauth_clients
    where kind = 'registered' and last_asked_at is null
    order by created_at desc offset at_most_unused limit 100
    for update skip locked
  )
$$;
grant execute on function private.register_oauth_client(jsonb, integer) to outlay_service, service_role;

-- returns: { id, kind, name, uri, redirect_uris } or null
create function private.load_oauth_client(client_id text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('id', id, 'kind', kind, 'name', name, 'uri', uri, 'redirect_uris', redirect_uris)
  from private.oauth_clients where id = client_id
$$;
grant execute on function private.load_oauth_client(text) to outlay_service, service_role;

-- The time until which the authorization server does not advertise client documents, because the outside network could
-- not be reached. One row, shared by all processes, because different processes may fetch a document and answer the
-- metadata request that follows.
create table private.oauth_document_outage (
  only_row boolean primary key default true check (only_row),
  ends_at timestamptz not null
);

alter table private.oauth_document_outage enable row level security;
revoke all on private.oauth_document_outage from anon, authenticated, service_role;

-- seconds: how long documents are not advertised from now on; 0: they are advertised again
create function private.note_document_outage(seconds integer)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.oauth_document_outage (ends_at)
  select clock_timestamp() + seconds * interval '1 second' where seconds > 0
    or exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
  on conflict (only_row) do update set ends_at = excluded.ends_at
$$;
grant execute on function private.note_document_outage(integer) to outlay_service, service_role;

create function private.is_document_outage()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
$$;
grant execute on function private.is_document_outage() to outlay_service, service_role;

-- A program that a user connected to a workspace: one per user, workspace and client. It is a key that an assistant holds:
-- the row of api_keys with the same id has its permissions and counts its spend. Deleting the connection revokes it: its
-- tokens are deleted, and its key stays, revoked, for what was recorded with it.
create table public.connections (
  workspace_id uuid not null,
  id uuid not null unique,
  user_id uuid not null,
  client_id text not null references private.oauth_clients (id),
  client_kind text not null check (client_kind in ('registered', 'document')),
  client_name text not null,
  client_uri text,
  -- The redirect to which the user was last sent. Of what a registered client says about itself, only this is verified.
  redirect_uri text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, user_id, client_id),
  foreign key (workspace_id, id) references public.api_keys (workspace_id, id) on delete cascade,
  -- A user who leaves a workspace loses their connections to it.
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);

create index connections_client_id_idx on public.connections (client_id);

alter table public.connections enable row level security;
revoke all on public.connections from anon, authenticated, service_role;
grant delete, select on public.connections to authenticated;
grant all on public.connections to service_role;

create policy "A member reads the connections of their workspaces"
  on public.connections for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A member revokes their own connections, an admin all"
  on public.connections for delete to authenticated
  using (
    (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()))
    or workspace_id in (select private.member_workspaces(array['owner', 'admin']))
  );

-- A connection and its key always end together.
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

create trigger ended_connections_end_their_keys
  after delete on public.connections
  for each row execute function private.end_key_of_connection();
create trigger connections_are_audited
  after insert or delete on public.connections
  for each row execute function private.audit_change('connection');

-- A request for consent, from the time at which the page shows it. It is stored here, so that the form can answer but not
-- change it. The form has a nonce, of which only the SHA-256 is stored; the session that was asked can answer, once. An
-- answer that allows has a code, which can be exchanged once within a minute.
create table private.oauth_authorizations (
  id uuid primary key default gen_random_uuid(),
  nonce bytea not null unique check (octet_length(nonce) = 32),
  user_id uuid not null references public.profiles (id) on delete cascade,
  session_id uuid not null,
  client_id text not null references private.oauth_clients (id) on delete cascade,
  redirect_uri text not null,
  state text,
  code_challenge text not null check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  resource text not null,
  -- The expiry of the request, then that of the code.
  expires_at timestamptz not null,
  decided_at timestamptz,
  code bytea unique check (octet_length(code) = 32),
  workspace_id uuid references public.workspaces (id) on delete cascade,
  permissions text[],
  project_id uuid,
  monthly_limit numeric check (monthly_limit >= 0),
  redeemed_at timestamptz,
  -- The grant for which the code was exchanged, to be revoked if the code is presented again.
  grant_id uuid,
  -- The permissions that the client requested: an answer can allow no others.
  wanted text[] not null default '{}',
  check (code is null or (workspace_id is not null and permissions is not null))
);

create index oauth_authorizations_user_id_idx on private.oauth_authorizations (user_id);
create index oauth_authorizations_client_id_idx on private.oauth_authorizations (client_id);
create index oauth_authorizations_workspace_id_idx on private.oauth_authorizations (workspace_id);
create index oauth_authorizations_expires_at_idx on private.oauth_authorizations (expires_at);

alter table private.oauth_authorizations enable row level security;
revoke all on private.oauth_authorizations from anon, authenticated, service_role;

-- question: { nonce: hex, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted }
-- The page can be opened any number of times. A user can answer their twenty latest open requests.
create function private.ask_consent(question jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.oauth_authorizations
  where id in (
    select id from private.oauth_authorizations
    where user_id = (question ->> 'user_id')::uuid and decided_at is null
    order by expires_at desc offset 19
  );
  update private.oauth_clients set last_asked_at = now() where id = question ->> 'client_id';
  insert into private.oauth_authorizations
    (nonce, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted, expires_at)
  select decode(nonce, 'hex'), user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted,
    clock_timestamp() + interval '10 minutes'
  from jsonb_to_record(question) as q (
    nonce text, user_id uuid, session_id uuid, client_id text, redirect_uri text, state text, code_challenge text,
    resource text, wanted text[]
  )
$$;
grant execute on function private.ask_consent(jsonb) to outlay_service, service_role;

-- The request of a nonce, while this session can answer it.
-- returns: { client_id, redirect_uri, state, wanted } or null
create function private.open_question(nonce text, user_id uuid, session_id uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'client_id', a.client_id, 'redirect_uri', a.redirect_uri, 'state', a.state, 'wanted', a.wanted
  )
  from private.oauth_authorizations as a
  where a.nonce = decode(open_question.nonce, 'hex') and a.user_id = open_question.user_id
    and a.session_id = open_question.session_id and a.decided_at is null and a.expires_at > clock_timestamp()
$$;
grant execute on function private.open_question(text, uuid, uuid) to outlay_service, service_role;

-- Answers a request, once. decision: { nonce: hex, user_id, session_id } and, if it allows,
-- { code: hex, workspace_id, permissions, project_id, monthly_limit }.
-- returns: whether this was the first answer
create function private.decide_consent(decision jsonb)
returns boolean
language sql volatile security definer set search_path = ''
as $$
  with decided as (
    update private.oauth_authorizations as a
    set decided_at = clock_timestamp(), expires_at = clock_timestamp() + interval '60 seconds',
      code = decode(d.code, 'hex'), workspace_id = d.workspace_id, permissions = d.permissions,
      project_id = d.project_id, monthly_limit = d.monthly_limit
    from jsonb_to_record(decision) as d (
      nonce text, user_id uuid, session_id uuid, code text, workspace_id uuid, permissions text[], project_id uuid,
      monthly_limit numeric
    )
    where a.nonce = decode(d.nonce, 'hex') and a.user_id = d.user_id and a.session_id = d.session_id
      and a.decided_at is null and a.expires_at > clock_timestamp()
    returning 1
  )
  select exists (select from decided)
$$;
grant execute on function private.decide_consent(jsonb) to outlay_service, service_role;
