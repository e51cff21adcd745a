-- Recovery codes of the local sign-in: ten codes, each of which raises a session once, for users who lost their
-- authenticator. They are a factor of the type that Supabase Auth has for them. The codes have as many random bits as
-- tokens, so they are stored as SHA-256 without a salt.
set local role supabase_auth_admin;

create table if not exists local_auth.recovery_codes (
  factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
  code_hash text not null,
  used_at timestamptz,
  primary key (factor_id, code_hash)
);
alter table local_auth.recovery_codes enable row level security;

-- returns: { id, total, remaining } or null
create or replace function local_auth.read_recovery_codes(holder uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', f.id, 'total', count(c.code_hash), 'remaining', count(c.code_hash) filter (where c.used_at is null)
  )
  from auth.mfa_factors as f
  left join local_auth.recovery_codes as c on c.factor_id = f.id
  where f.user_id = holder and f.factor_type = 'recovery_code'
  group by f.id
$$;

-- Creates the user's codes, or replaces them. returns: { id, friendly_name } or { refused }
create or replace function local_auth.keep_recovery_codes(
  holder uuid, session uuid, name text, code_hashes text[], replaces boolean
)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  level auth.aal_level := local_auth.lock_session(session, holder);
  kept auth.mfa_factors;
  refusal text;
begin
  if level is null then
    return '{"refused": "session_not_found"}';
  elsif level < 'aal2' then
    return '{"refused": "insufficient_aal"}';
  end if;
  select * into kept from auth.mfa_factors where user_id = holder and factor_type = 'recovery_code';
  if replaces and kept.id is null then
    return '{"refused": "mfa_factor_not_found"}';
  elsif not replaces and kept.id is not null then
    return '{"refused": "mfa_verified_factor_exists"}';
  elsif not exists (
    select from auth.mfa_factors where user_id = holder and factor_type <> 'recovery_code' and status = 'verified'
  ) then
    return '{"refused": "mfa_recovery_codes_sole_factor"}';
  end if;
  if kept.id is null then
    refusal := local_auth.refuse_factor(holder, name, level);
    if refusal is not null then
      return jsonb_build_object('refused', refusal);
    end if;
    insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
    values (gen_random_uuid(), holder, name, 'recovery_code', 'verified', now(), now())
    returning * into kept;
  else
    update auth.mfa_factors set updated_at = now() where id = kept.id;
    delete from local_auth.recovery_codes where factor_id = kept.id;
  end if;
  insert into local_auth.recovery_codes (factor_id, code_hash) select kept.id, unnest(code_hashes);
  return jsonb_build_object('id', kept.id, 'friendly_name', kept.friendly_name);
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

-- returns: { id } or { refused }
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

revoke execute on all functions in schema local_auth from public;
grant execute on function
  local_auth.read_recovery_codes(uuid),
  local_auth.keep_recovery_codes(uuid, uuid, text, text[], boolean),
  local_auth.use_recovery_code(uuid, uuid, text),
  local_auth.remove_recovery_codes(uuid, uuid)
to outlay_service, postgres;

reset role;
