-- Sessions of the local sign-in. A refresh token is random; only its SHA-256 is stored. Its successor is derived from it
-- with the session's secret (an HMAC). So a client that presents the same token again, because two tabs refreshed at once
-- or a response was lost, receives the same successor, and yet the database contains no token.
set local role supabase_auth_admin;

create or replace function local_auth.hash_token(token text)
returns text
language sql immutable set search_path = ''
as $$
  select encode(extensions.digest(token, 'sha256'), 'hex')
$$;

create or replace function local_auth.succeeding_token(token text, session_secret text)
returns text
language sql immutable set search_path = ''
as $$
  select translate(encode(extensions.hmac(token, session_secret, 'sha256'), 'base64'), '+/=', '-_')
$$;

-- method: how the user proved their identity (password or otp), for the token's `amr`.
-- returns: { session_id, refresh_token, user, aal, amr: [{ method, timestamp }] }
create or replace function local_auth.open_session(opened_by uuid, method text, agent text, address text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  opened uuid := gen_random_uuid();
  token text := translate(encode(extensions.gen_random_bytes(32), 'base64'), '+/=', '-_');
begin
  update auth.users set last_sign_in_at = now(), updated_at = now() where id = opened_by;
  update auth.identities set last_sign_in_at = now(), updated_at = now() where user_id = opened_by and provider = 'email';
  insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip, refresh_token_hmac_key)
  values (
    opened, opened_by, now(), now(), 'aal1', agent, address::inet,
    encode(extensions.gen_random_bytes(32), 'base64')
  );
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values (gen_random_uuid(), opened, now(), now(), method);
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
  values ('00000000-0000-0000-0000-000000000000', local_auth.hash_token(token), opened_by, false, now(), now(), opened);
  return local_auth.describe_session(opened) || jsonb_build_object('refresh_token', token);
end
$$;

create or replace function local_auth.describe_session(described uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'session_id', s.id,
    'user', local_auth.describe_user(s.user_id),
    'aal', coalesce(s.aal, 'aal1'),
    -- The latest method first, as in Supabase Auth. The second is rounded down, as there: a proof must never seem later than
    -- what happened after it, or private.restore_account undoes a deletion for the session that asked for it.
    'amr', (
      select jsonb_agg(
        jsonb_build_object('method', m.authentication_method, 'timestamp', floor(extract(epoch from m.updated_at))::bigint)
        order by m.updated_at desc
      )
      from auth.mfa_amr_claims as m where m.session_id = s.id
    )
  )
  from auth.sessions as s
  where s.id = described
$$;

-- Exchanges a refresh token for its successor.
--   the session's current token          its successor, which becomes the current one
--   the token before it                  the current one again: a response was lost, or two requests ran at once
--   an older one, used in the last 10 s  the current one again
--   an older one                         two parties have the token: the session ends for both
-- returns: as open_session, or { refused: 'refresh_token_not_found' | 'refresh_token_already_used' }
create or replace function local_auth.refresh_session(token text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  presented auth.refresh_tokens;
  session auth.sessions;
  current_hash text;
  current_parent text;
  successor text := token;
begin
  select * into presented from auth.refresh_tokens as r where r.token = local_auth.hash_token(refresh_session.token);
  if not found then
    return '{"refused": "refresh_token_not_found"}';
  end if;
  -- The order of a session's tokens is certain only under its lock, so the session is read again.
  select * into session from auth.sessions where id = presented.session_id for update;
  if not found then
    return '{"refused": "refresh_token_not_found"}';
  end if;
  select * into presented from auth.refresh_tokens where id = presented.id;
  -- The session was raised to a second factor meanwhile, and only that request knows the new token.
  if not found then
    return '{"refused": "refresh_token_not_found"}';
  end if;
  if not presented.revoked then
    successor := local_auth.succeeding_token(token, session.refresh_token_hmac_key);
    update auth.refresh_tokens set revoked = true, updated_at = now() where id = presented.id;
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    values (
      presented.instance_id, local_auth.hash_token(successor), presented.user_id, false, now(), now(), presented.token, session.id
    );
    update auth.sessions
    set refreshed_at = now() at time zone 'UTC', updated_at = now(), refresh_token_counter = coalesce(refresh_token_counter, 0) + 1
    where id = session.id;
    delete from auth.refresh_tokens
    where session_id = session.id and revoked and updated_at < now() - interval '90 days';
    return local_auth.describe_session(session.id) || jsonb_build_object('refresh_token', successor);
  end if;

  select r.token, r.parent into current_hash, current_parent
  from auth.refresh_tokens as r where r.session_id = session.id and not r.revoked;
  if current_parent = presented.token or presented.updated_at > now() - interval '10 seconds' then
    for step in 1..20 loop
      successor := local_auth.succeeding_token(successor, session.refresh_token_hmac_key);
      if local_auth.hash_token(successor) = current_hash then
        return local_auth.describe_session(session.id) || jsonb_build_object('refresh_token', successor);
      end if;
    end loop;
  end if;
  delete from auth.sessions where id = session.id;
  return '{"refused": "refresh_token_already_used"}';
end
$$;

-- The user of an open session; null if it has ended or is another user's.
create or replace function local_auth.read_session_user(asked_session uuid, asked_user uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select local_auth.describe_user(s.user_id) from auth.sessions as s where s.id = asked_session and s.user_id = asked_user
$$;

-- scope: global (all sessions of the user), local (this one) or others.
create or replace function local_auth.close_sessions(closed_user uuid, closed_session uuid, scope text)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from auth.sessions
  where user_id = closed_user
    and case scope when 'local' then id = closed_session when 'others' then id <> closed_session else true end
$$;

reset role;
