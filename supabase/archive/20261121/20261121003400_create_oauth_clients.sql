-- Programs that may ask a user for a connection. All are public clients: what a program on somebody's machine would keep
-- as its secret is none, so that PKCE and the exact redirect are what binds a code to its client.
--
-- registered   introduced itself at /oauth/register (RFC 7591); its name is a claim of its own
-- document     its id is the https address of a document about it, which was fetched from there
create table private.oauth_clients (
  id text primary key check (char_length(id) between 1 and 2048),
  kind text not null check (kind in ('registered', 'document')),
  name text not null check (char_length(name) between 1 and 120),
  uri text check (char_length(uri) <= 2048),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
  created_at timestamptz not null default now(),
  -- When a user was last asked on its behalf; null for a client that only registered.
  last_asked_at timestamptz
);
create index oauth_clients_created_at_idx on private.oauth_clients (created_at);
alter table private.oauth_clients enable row level security;

-- Remembers a client; a document replaces what was known of it. client: { id, kind, name, uri, redirect_uris }
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

-- returns: { id, kind, name, uri, redirect_uris } or null
create function private.load_oauth_client(client_id text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('id', id, 'kind', kind, 'name', name, 'uri', uri, 'redirect_uris', redirect_uris)
  from private.oauth_clients where id = client_id
$$;

revoke all on function private.save_oauth_client(jsonb), private.load_oauth_client(text) from public;
grant execute on function private.save_oauth_client(jsonb), private.load_oauth_client(text) to outlay_service, service_role;
