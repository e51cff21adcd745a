-- Second factors of the local sign-in: authenticator apps (TOTP), and recovery codes for users who lost theirs. Every change of a
-- user's factors locks the user's row, so that parallel requests run one by one.
set local role supabase_auth_admin;

-- Locks the user. returns: the session's level, or null if it has ended or is another user's
create or replace function local_auth.lock_session(session uuid, holder uuid)
returns auth.aal_level
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level;
begin
  perform from auth.users where id = holder for no key update;
  select coalesce(s.aal, 'aal1') into level
  from auth.sessions as s where s.id = session and s.user_id = holder
  for update;
  return level;
end
$$;

-- Whether a session must prove a second factor before it may change how its user signs in.
create or replace function local_auth.lacks_second_factor(session uuid, holder uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from auth.mfa_factors where user_id = holder and status = 'verified')
    and not exists (select from auth.sessions where id = session and user_id = holder and aal >= 'aal2')
$$;

-- Begins the enrolment of an authenticator. returns: { id } or { refused }
create or replace function local_auth.enrol_totp(holder uuid, session uuid, name text, secret text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level := local_auth.lock_session(session, holder);
  made uuid := gen_random_uuid();
begin
  if level is null then
    return '{"refused": "session_not_found"}';
  end if;
  -- Deletes an enrolment that was begun and not completed.
  delete from auth.mfa_factors as f
  where f.user_id = holder and f.status <> 'verified' and f.created_at < now() - interval '5 minutes'
    and not exists (
      select from auth.mfa_challenges as c where c.factor_id = f.id and c.created_at > now() - interval '5 minutes'
    );
  if exists (select from auth.mfa_factors where user_id = holder and friendly_name = name) then
    return '{"refused": "mfa_factor_name_conflict"}';
  elsif (select count(*) >= 10 from auth.mfa_factors where user_id = holder) then
    return '{"refused": "too_many_enrolled_mfa_factors"}';
  elsif level < 'aal2' and exists (select from auth.mfa_factors where user_id = holder and status = 'verified') then
    return '{"refused": "insufficient_aal"}';
  end if;
  insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
  values (made, holder, name, 'totp', 'unverified', now(), now(), secret);
  return jsonb_build_object('id', made);
end
$$;

-- Begins a challenge of a factor. returns: { id, expires_at (Unix seconds) } or { refused }
create or replace function local_auth.challenge_factor(holder uuid, factor uuid, address text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  made uuid := gen_random_uuid();
begin
  perform from auth.mfa_factors where id = factor and user_id = holder and factor_type = 'totp' for update;
  if not found then
    return '{"refused": "mfa_factor_not_found"}';
  end if;
  -- Bounds the number of challenges of a factor.
  delete from auth.mfa_challenges as c
  where c.factor_id = factor and (
    c.created_at < now() - interval '5 minutes'
    or c.id not in (select n.id from auth.mfa_challenges as n where n.factor_id = factor order by n.created_at desc limit 20)
  );
  insert into auth.mfa_challenges (id, factor_id, created_at, ip_address)
  values (made, factor, clock_timestamp(), coalesce(address, '0.0.0.0')::inet);
  update auth.mfa_factors set last_challenged_at = clock_timestamp() where id = factor;
  return jsonb_build_object('id', made, 'expires_at', floor(extract(epoch from clock_timestamp() + interval '5 minutes'))::bigint);
end
$$;

-- Reads what is needed to check the answer to a challenge, and locks the user until the transaction ends.
-- returns: { secret, last_step, now_ms } or { refused }
create or replace function local_auth.open_challenge(holder uuid, session uuid, factor uuid, challenge uuid, address text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  kept text;
begin
  if local_auth.lock_session(session, holder) is null then
    return '{"refused": "session_not_found"}';
  end if;
  select f.secret into kept from auth.mfa_factors as f
  where f.id = factor and f.user_id = holder and f.factor_type = 'totp';
  if kept is null then
    return '{"refused": "mfa_factor_not_found"}';
  end if;
  perform from auth.mfa_challenges as c
  where c.id = challenge and c.factor_id = factor and c.verified_at is null
    and c.ip_address = coalesce(address, '0.0.0.0')::inet and c.created_at > now() - interval '5 minutes';
  if not found then
    return '{"refused": "mfa_challenge_expired"}';
  end if;
  return jsonb_build_object(
    'secret', kept,
    'last_step', (select t.last_step from local_auth.taken_steps as t where t.factor_id = factor),
    'now_ms', floor(extract(epoch from clock_timestamp()) * 1000)::bigint
  );
end
$$;

-- Raises a session to aal2 and gives it a new refresh token; those before belonged to aal1 and become invalid. The user's
-- sessions of aal1 end. The caller has locked the user.
-- returns: as open_session
create or replace function local_auth.raise_session(holder uuid, raised uuid, method text, factor uuid)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  token text := translate(encode(extensions.gen_random_bytes(32), 'base64'), '+/=', '-_');
begin
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values (gen_random_uuid(), raised, now(), now(), method)
  on conflict on constraint mfa_amr_claims_session_id_authentication_method_pkey do update set updated_at = now();
  update auth.sessions set aal = 'aal2', factor_id = factor, updated_at = now() where id = raised;
  delete from auth.sessions where user_id = holder and coalesce(aal, 'aal1') < 'aal2';
  delete from auth.refresh_tokens where session_id = raised;
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
  values ('00000000-0000-0000-0000-000000000000', local_auth.hash_token(token), holder, false, now(), now(), raised);
  return local_auth.describe_session(raised) || jsonb_build_object('refresh_token', token);
end
$$;

-- Accepts the answer that open_challenge was for, in the same transaction. step: the step of the code
-- returns: { session, was_enrolled }: the session as open_session, and whether the factor was verified before
create or replace function local_auth.pass_challenge(holder uuid, session uuid, factor uuid, challenge uuid, step bigint)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  was_verified boolean;
begin
  insert into local_auth.taken_steps (factor_id, last_step) values (factor, step)
  on conflict (factor_id) do update set last_step = excluded.last_step;
  update auth.mfa_challenges set verified_at = now() where id = challenge;
  select f.status = 'verified' into was_verified from auth.mfa_factors as f where f.id = factor;
  update auth.mfa_factors set status = 'verified', updated_at = now() where id = factor and status <> 'verified';
  delete from auth.mfa_factors where user_id = holder and factor_type = 'totp' and status <> 'verified';
  return jsonb_build_object(
    'session', local_auth.raise_session(holder, session, 'totp', factor), 'was_enrolled', was_verified
  );
end
$$;

-- Deletes a factor. The sessions that it raised go back to aal1. The caller has locked the user.
create or replace function local_auth.drop_factor(factor uuid, method text)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from auth.mfa_amr_claims
  where authentication_method = method and session_id in (select id from auth.sessions where factor_id = factor);
  update auth.sessions set aal = 'aal1', factor_id = null where factor_id = factor;
  delete from auth.mfa_factors where id = factor
$$;

-- Removes an authenticator. returns: { id, was_verified } or { refused }
create or replace function local_auth.remove_factor(holder uuid, session uuid, factor uuid)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level := local_auth.lock_session(session, holder);
  removed auth.mfa_factors;
begin
  if level is null then
    return '{"refused": "session_not_found"}';
  end if;
  select * into removed from auth.mfa_factors where id = factor and user_id = holder and factor_type = 'totp';
  if not found then
    return '{"refused": "mfa_factor_not_found"}';
  elsif removed.status = 'verified' and level < 'aal2' then
    return '{"refused": "insufficient_aal"}';
  elsif removed.status = 'verified'
    and exists (select from auth.mfa_factors where user_id = holder and factor_type = 'recovery_code')
    and not exists (
      select from auth.mfa_factors
      where user_id = holder and factor_type <> 'recovery_code' and status = 'verified' and id <> factor
    )
  then
    return '{"refused": "mfa_recovery_codes_sole_factor"}';
  end if;
  perform local_auth.drop_factor(factor, 'totp');
  return jsonb_build_object('id', factor, 'was_verified', removed.status = 'verified');
end
$$;

-- Counts the recovery codes of a user. returns: { id, total, remaining } or { refused }
create or replace function local_auth.read_recovery_codes(holder uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select jsonb_build_object(
      'id', f.id, 'total', count(c.code_hash), 'remaining', count(c.code_hash) filter (where c.used_at is null)
    )
    from auth.mfa_factors as f
    left join local_auth.recovery_codes as c on c.factor_id = f.id
    where f.user_id = holder and f.factor_type = 'recovery_code'
    group by f.id
  ), '{"refused": "mfa_factor_not_found"}')
$$;

-- Creates the user's codes, or replaces them. returns: { id } or { refused }
create or replace function local_auth.keep_recovery_codes(holder uuid, session uuid, code_hashes text[], replaces boolean)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level := local_auth.lock_session(session, holder);
  kept uuid := (select id from auth.mfa_factors where user_id = holder and factor_type = 'recovery_code');
begin
  if level is null then
    return '{"refused": "session_not_found"}';
  elsif level < 'aal2' then
    return '{"refused": "insufficient_aal"}';
  end if;
  if replaces and kept is null then
    return '{"refused": "mfa_factor_not_found"}';
  elsif not replaces and kept is not null then
    return '{"refused": "mfa_verified_factor_exists"}';
  elsif not exists (
    select from auth.mfa_factors where user_id = holder and factor_type <> 'recovery_code' and status = 'verified'
  ) then
    return '{"refused": "mfa_recovery_codes_sole_factor"}';
  end if;
  if kept is null then
    insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
    values (gen_random_uuid(), holder, 'recovery_code', 'verified', now(), now())
    returning id into kept;
  else
    update auth.mfa_factors set updated_at = now() where id = kept;
    delete from local_auth.recovery_codes where factor_id = kept;
  end if;
  insert into local_auth.recovery_codes (factor_id, code_hash) select kept, unnest(code_hashes);
  return jsonb_build_object('id', kept);
end
$$;

-- Uses a code. returns: { session, remaining } or { refused }
create or replace function local_auth.use_recovery_code(holder uuid, session uuid, given_hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  factor uuid;
begin
  if local_auth.lock_session(session, holder) is null then
    return '{"refused": "session_not_found"}';
  end if;
  update local_auth.recovery_codes as c set used_at = now()
  from auth.mfa_factors as f
  where f.id = c.factor_id and f.user_id = holder and f.factor_type = 'recovery_code' and f.status = 'verified'
    and c.code_hash = given_hash and c.used_at is null
  returning f.id into factor;
  if factor is null then
    return '{"refused": "mfa_verification_failed"}';
  end if;
  return jsonb_build_object(
    'session', local_auth.raise_session(holder, session, 'mfa/recovery_code', factor),
    'remaining', (select count(*) from local_auth.recovery_codes as c where c.factor_id = factor and c.used_at is null)
  );
end
$$;

-- Deletes the user's codes. returns: { id } or { refused }
create or replace function local_auth.remove_recovery_codes(holder uuid, session uuid)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level := local_auth.lock_session(session, holder);
  factor uuid;
begin
  if level is null then
    return '{"refused": "session_not_found"}';
  elsif level < 'aal2' then
    return '{"refused": "insufficient_aal"}';
  end if;
  select id into factor from auth.mfa_factors where user_id = holder and factor_type = 'recovery_code';
  if factor is null then
    return '{"refused": "mfa_factor_not_found"}';
  end if;
  perform local_auth.drop_factor(factor, 'mfa/recovery_code');
  return jsonb_build_object('id', factor);
end
$$;

reset role;
