-- A grant is what one code was exchanged for: a line of refresh tokens, each the successor of the last, and the access
-- tokens that came with them. It dies as a whole. A connection whose last grant ends is over.
create table private.oauth_grants (
  id uuid primary key default gen_random_uuid(),
  connection_id uuid not null references public.connections (id) on delete cascade,
  -- The address its tokens are for.
  resource text not null,
  created_at timestamptz not null default now()
);
create index oauth_grants_connection_id_idx on private.oauth_grants (connection_id);

create table private.oauth_access_tokens (
  hash bytea primary key check (octet_length(hash) = 32),
  grant_id uuid not null references private.oauth_grants (id) on delete cascade,
  expires_at timestamptz not null
);
create index oauth_access_tokens_grant_id_idx on private.oauth_access_tokens (grant_id);
create index oauth_access_tokens_expires_at_idx on private.oauth_access_tokens (expires_at);

create table private.oauth_refresh_tokens (
  hash bytea primary key check (octet_length(hash) = 32),
  grant_id uuid not null references private.oauth_grants (id) on delete cascade,
  expires_at timestamptz not null,
  -- A used token is kept until it expires: its coming back is how a theft shows.
  used_at timestamptz
);
create index oauth_refresh_tokens_grant_id_idx on private.oauth_refresh_tokens (grant_id);
create index oauth_refresh_tokens_expires_at_idx on private.oauth_refresh_tokens (expires_at);

alter table private.oauth_grants enable row level security;
alter table private.oauth_access_tokens enable row level security;
alter table private.oauth_refresh_tokens enable row level security;

create function private.end_connection_without_grants()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.connections as c
  where c.id = old.connection_id
    and not exists (select from private.oauth_grants as g where g.connection_id = old.connection_id);
  return null;
end
$$;
create trigger last_grants_end_their_connections
  after delete on private.oauth_grants
  for each row execute function private.end_connection_without_grants();

-- A new pair for a grant. Access tokens live for an hour, refresh tokens for 60 days without use.
create function private.issue_tokens(for_grant uuid, access text, refresh text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.oauth_access_tokens (hash, grant_id, expires_at)
  values (decode(access, 'hex'), for_grant, clock_timestamp() + interval '1 hour');
  insert into private.oauth_refresh_tokens (hash, grant_id, expires_at)
  values (decode(refresh, 'hex'), for_grant, clock_timestamp() + interval '60 days')
$$;

-- Lets a client into a workspace as the user allowed, or changes what an existing connection may do to that.
create function private.connect(allowed private.oauth_authorizations, granted text[])
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  client private.oauth_clients;
  connected uuid;
begin
  select * into client from private.oauth_clients where id = allowed.client_id;
  select id into connected from public.connections
  where workspace_id = allowed.workspace_id and user_id = allowed.user_id and client_id = allowed.client_id;
  if connected is null then
    insert into public.api_keys
      (workspace_id, name, prefix, last_four, kind, permissions, project_id, monthly_limit, created_by)
    values (
      allowed.workspace_id, client.name, 'svc_at_', 'none', 'connection', granted, allowed.project_id,
      allowed.monthly_limit, allowed.user_id
    )
    returning id into connected;
    insert into public.connections
      (workspace_id, id, user_id, client_id, client_kind, client_name, client_uri, redirect_uri)
    values (
      allowed.workspace_id, connected, allowed.user_id, client.id, client.kind, client.name, client.uri,
      allowed.redirect_uri
    );
  else
    update public.api_keys
    set name = client.name, permissions = granted, project_id = allowed.project_id, monthly_limit = allowed.monthly_limit
    where workspace_id = allowed.workspace_id and id = connected;
    update public.connections
    set client_name = client.name, client_uri = client.uri, redirect_uri = allowed.redirect_uri
    where workspace_id = allowed.workspace_id and id = connected;
  end if;
  return connected;
end
$$;

-- Exchanges a code for a first pair of tokens, once: any attempt uses it up, and a second one takes back what the first gave.
-- attempt: { code: hex, client_id, redirect_uri | null, code_challenge, resource | null, access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }
create function private.redeem_code(attempt jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  allowed private.oauth_authorizations;
  held_role text;
  granted text[];
  new_grant uuid;
begin
  select * into allowed from private.oauth_authorizations
  where code = decode(attempt ->> 'code', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  if allowed.redeemed_at is not null then
    delete from private.oauth_grants where id = allowed.grant_id;
    return jsonb_build_object('refused', 'replayed');
  end if;
  update private.oauth_authorizations set redeemed_at = clock_timestamp() where id = allowed.id;

  if allowed.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if allowed.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if allowed.code_challenge <> attempt ->> 'code_challenge' then return jsonb_build_object('refused', 'verifier'); end if;
  if allowed.redirect_uri <> attempt ->> 'redirect_uri' then return jsonb_build_object('refused', 'redirect'); end if;
  if allowed.resource <> attempt ->> 'resource' then return jsonb_build_object('refused', 'resource'); end if;

  -- Held until the end: two exchanges for one connection take turns, and a change of role comes before or after.
  select role into held_role from public.workspace_members
  where workspace_id = allowed.workspace_id and user_id = allowed.user_id for no key update;
  granted := array(
    select permission from unnest(allowed.permissions) with ordinality as p (permission, place)
    where permission = any (private.permissions_of_role(held_role)) order by place
  );
  if granted = '{}' then return jsonb_build_object('refused', 'membership'); end if;

  -- What follows is done in the name of the user who allowed it, for the audit log.
  perform set_config('request.jwt.claims', (
    select jsonb_build_object('sub', id, 'email', email, 'role', 'authenticated')::text
    from public.profiles where id = allowed.user_id
  ), true);
  insert into private.oauth_grants (connection_id, resource)
  values (private.connect(allowed, granted), allowed.resource)
  returning id into new_grant;
  update private.oauth_authorizations set grant_id = new_grant where id = allowed.id;
  perform private.issue_tokens(new_grant, attempt ->> 'access', attempt ->> 'refresh');
  return jsonb_build_object('permissions', granted, 'resource', allowed.resource);
end
$$;

-- Exchanges a refresh token for the next pair. Real assistants race on one token, and answers get lost: within 60 seconds
-- of its first use it gives another pair. Later, two hold it who should not, and the grant ends for both.
-- attempt: { token: hex, client_id, resources: [url], access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }
create function private.rotate_refresh_token(attempt jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  token private.oauth_refresh_tokens;
  held record;
begin
  select * into token from private.oauth_refresh_tokens
  where hash = decode(attempt ->> 'token', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  select c.client_id, g.resource, k.permissions into held
  from private.oauth_grants as g
  join public.connections as c on c.id = g.connection_id
  join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
  where g.id = token.grant_id;
  if held.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if token.used_at < clock_timestamp() - interval '60 seconds' then
    delete from private.oauth_grants where id = token.grant_id;
    return jsonb_build_object('refused', 'reused');
  end if;
  if token.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if not attempt -> 'resources' ? held.resource then return jsonb_build_object('refused', 'resource'); end if;
  update private.oauth_refresh_tokens set used_at = clock_timestamp() where hash = token.hash and used_at is null;
  perform private.issue_tokens(token.grant_id, attempt ->> 'access', attempt ->> 'refresh');
  return jsonb_build_object('permissions', held.permissions, 'resource', held.resource);
end
$$;

-- Ends what a token stands for (RFC 7009): an access token by itself, a refresh token with all of its grant. A token of
-- another client stays as it is.
create function private.revoke_oauth_token(token text, for_client text)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.oauth_access_tokens as t
  using private.oauth_grants as g, public.connections as c
  where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client;
  delete from private.oauth_grants as g
  using private.oauth_refresh_tokens as t, public.connections as c
  where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
$$;

revoke all on function private.end_connection_without_grants(), private.issue_tokens(uuid, text, text),
  private.connect(private.oauth_authorizations, text[]), private.redeem_code(jsonb), private.rotate_refresh_token(jsonb),
  private.revoke_oauth_token(text, text) from public;
grant execute on function private.redeem_code(jsonb), private.rotate_refresh_token(jsonb),
  private.revoke_oauth_token(text, text) to outlay_service, service_role;
