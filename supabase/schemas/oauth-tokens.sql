-- Tokens of connections.

-- A grant is the result of one code: a chain of refresh tokens, each the successor of the last, and their access tokens.
-- It ends as a whole. A connection ends with its last grant.
create table private.oauth_grants (
  id uuid primary key default gen_random_uuid(),
  connection_id uuid not null references public.connections (id) on delete cascade,
  -- The address for which its tokens are.
  resource text not null,
  created_at timestamptz not null default now()
);

create index oauth_grants_connection_id_idx on private.oauth_grants (connection_id);

alter table private.oauth_grants enable row level security;
revoke all on private.oauth_grants from anon, authenticated, service_role;

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

create table private.oauth_access_tokens (
  hash bytea primary key check (octet_length(hash) = 32),
  grant_id uuid not null references private.oauth_grants (id) on delete cascade,
  expires_at timestamptz not null
);

create index oauth_access_tokens_grant_id_idx on private.oauth_access_tokens (grant_id);
create index oauth_access_tokens_expires_at_idx on private.oauth_access_tokens (expires_at);

alter table private.oauth_access_tokens enable row level security;
revoke all on private.oauth_access_tokens from anon, authenticated, service_role;

create table private.oauth_refresh_tokens (
  hash bytea primary key check (octet_length(hash) = 32),
  grant_id uuid not null references private.oauth_grants (id) on delete cascade,
  expires_at timestamptz not null,
  -- A used token is kept until it expires, because its reuse reveals a theft.
  used_at timestamptz
);

create index oauth_refresh_tokens_grant_id_idx on private.oauth_refresh_tokens (grant_id);
create index oauth_refresh_tokens_expires_at_idx on private.oauth_refresh_tokens (expires_at);

alter table private.oauth_refresh_tokens enable row level security;
revoke all on private.oauth_refresh_tokens from anon, authenticated, service_role;

-- Issues a new pair for a grant. Access tokens are valid for an hour, refresh tokens for 60 days without use.
create function private.issue_tokens(for_grant uuid, access text, refresh text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.oauth_access_tokens (hash, grant_id, expires_at)
  values (decode(access, 'hex'), for_grant, clock_timestamp() + interval '1 hour');
  insert into private.oauth_refresh_tokens (hash, grant_id, expires_at)
  values (decode(refresh, 'hex'), for_grant, clock_timestamp() + interval '60 days')
$$;

-- Deletes the refresh tokens of a grant except the latest.
create function private.forget_older_refresh_tokens(of_grant uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where grant_id = of_grant order by expires_at desc offset 500
  )
$$;

-- Connects a client to a workspace as the user allowed, or gives an existing connection these permissions.
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

-- A connection of a deleted workspace gets no tokens.
create function private.redeem_code(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path = ''
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

  -- Locked until the end, so that two exchanges for one connection, and a change of role, run one after the other.
  select m.role into held_role
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id and w.deleted_at is null
  where m.workspace_id = allowed.workspace_id and m.user_id = allowed.user_id
  for no key update of m;
  granted := array(
    select permission from unnest(allowed.permissions) with ordinality as p (permission, place)
    where permission = any (private.permissions_of_role(held_role)) order by place
  );
  if granted = '{}' then return jsonb_build_object('refused', 'membership'); end if;

  -- The audit log names the user who allowed the connection.
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
grant execute on function private.redeem_code(jsonb) to outlay_service, service_role;

-- Exchanges a refresh token for the next pair. Assistants send parallel requests with one token, and responses get lost, so
-- within 60 seconds of its first use a token gives another pair. A later reuse means that two parties have the token, and
-- the grant ends for both.
-- attempt: { token: hex, client_id, resources: [url], access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }; above the limit { refused: 'rate', limit, window_ms, wait_ms }
create function private.rotate_refresh_token(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path = ''
as $$
declare
  token private.oauth_refresh_tokens;
  held record;
  excess jsonb;
begin
  -- Locks the grant before its tokens, as functions that end it do, so that the refreshes of a grant run one by one.
  perform from private.oauth_grants where id = (
    select grant_id from private.oauth_refresh_tokens where hash = decode(attempt ->> 'token', 'hex')
  ) for update;
  select * into token from private.oauth_refresh_tokens
  where hash = decode(attempt ->> 'token', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  select c.client_id, g.resource, k.permissions, w.deleted_at is not null as is_deleted into held
  from private.oauth_grants as g
  join public.connections as c on c.id = g.connection_id
  join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where g.id = token.grant_id;
  if held.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if token.used_at < clock_timestamp() - interval '60 seconds' then
    delete from private.oauth_grants where id = token.grant_id;
    return jsonb_build_object('refused', 'reused');
  end if;
  if token.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if not attempt -> 'resources' ? held.resource then return jsonb_build_object('refused', 'resource'); end if;

  -- The token stays as it is: an undo makes it valid again.
  if held.is_deleted then return jsonb_build_object('refused', 'workspace_deleted'); end if;

  -- Counted per grant. Only a holder of its token can reach it, so no client can use up the quota of another.
  excess := private.admit_attempt(jsonb_build_array(jsonb_build_object(
    'subject', encode(sha256(convert_to('token refreshes ' || token.grant_id, 'utf8')), 'hex'),
    'limit', 120,
    'window_ms', 3600000
  )));
  if excess is not null then return jsonb_build_object('refused', 'rate') || excess; end if;

  update private.oauth_refresh_tokens set used_at = clock_timestamp() where hash = token.hash and used_at is null;
  perform private.issue_tokens(token.grant_id, attempt ->> 'access', attempt ->> 'refresh');
  perform private.forget_older_refresh_tokens(token.grant_id);
  return jsonb_build_object('permissions', held.permissions, 'resource', held.resource);
end
$$;
grant execute on function private.rotate_refresh_token(jsonb) to outlay_service, service_role;

-- Revokes a token (RFC 7009): an access token alone, a refresh token with its whole grant. A token of another client stays
-- valid.
-- returns: whether there was such a token
create function private.revoke_oauth_token(token text, for_client text)
returns boolean
language sql volatile security definer set search_path = ''
as $$
  with access as (
    delete from private.oauth_access_tokens as t
    using private.oauth_grants as g, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  ), refresh as (
    delete from private.oauth_grants as g
    using private.oauth_refresh_tokens as t, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  )
  select exists (select from access) or exists (select from refresh)
$$;
grant execute on function private.revoke_oauth_token(text, text) to outlay_service, service_role;

-- Deletes rows that can no longer be used, so that nobody can fill the tables: answered and expired requests for consent,
-- expired tokens, grants that cannot be refreshed, and clients without a connection. A client that never asked a user is
-- deleted after a day, another one 30 days after it last asked, because assistants keep the id they registered with.
-- returns: how many rows
create function private.sweep_oauth(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  swept integer := 0;
  gone integer;
begin
  delete from private.oauth_authorizations where id in (
    select id from private.oauth_authorizations where expires_at < now() - interval '1 day' limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_access_tokens where hash in (
    select hash from private.oauth_access_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  -- One by one, skipping locked rows, because a token may be in the process of being refreshed.
  delete from private.oauth_grants where id in (
    select g.id from private.oauth_grants as g
    where not exists (select from private.oauth_refresh_tokens as t where t.grant_id = g.id and t.expires_at > now())
      and not exists (select from private.oauth_access_tokens as t where t.grant_id = g.id and t.expires_at > now())
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_clients where id in (
    select client.id from private.oauth_clients as client
    where client.created_at < now() - interval '1 day'
      and coalesce(client.last_asked_at, '-infinity') < now() - interval '30 days'
      and not exists (select from public.connections as c where c.client_id = client.id)
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  return swept + gone;
end
$$;
grant execute on function private.sweep_oauth(integer) to outlay_service, service_role;
