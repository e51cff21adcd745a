-- Accounts of the local sign-in: creating, checking and reading them.
set local role supabase_auth_admin;

-- A user's factors in the format of the Supabase Auth API.
create or replace function local_auth.describe_factors(described uuid)
returns jsonb
language sql stable security definer set search_path = '' set timezone = 'UTC'
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'id', f.id,
    'friendly_name', nullif(f.friendly_name, ''),
    'factor_type', f.factor_type,
    'status', f.status,
    'created_at', f.created_at,
    'updated_at', f.updated_at,
    'last_challenged_at', f.last_challenged_at
  )) order by f.created_at), '[]')
  from auth.mfa_factors as f
  where f.user_id = described
$$;

-- A user in the format of the Supabase Auth API.
create or replace function local_auth.describe_user(described uuid)
returns jsonb
language sql stable security definer set search_path = '' set timezone = 'UTC'
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', u.id,
    'aud', u.aud,
    'role', u.role,
    'email', u.email,
    'email_confirmed_at', u.email_confirmed_at,
    'confirmed_at', u.confirmed_at,
    'new_email', nullif(u.email_change, ''),
    'last_sign_in_at', u.last_sign_in_at,
    'created_at', u.created_at,
    'updated_at', u.updated_at,
    'phone', '',
    'is_anonymous', u.is_anonymous,
    -- Absent if there are none.
    'factors', nullif(local_auth.describe_factors(u.id), '[]')
  )) || jsonb_build_object(
    'app_metadata', coalesce(u.raw_app_meta_data, '{}'),
    'user_metadata', coalesce(u.raw_user_meta_data, '{}'),
    'identities', coalesce((
      select jsonb_agg(jsonb_build_object(
        'identity_id', i.id,
        'id', i.provider_id,
        'user_id', i.user_id,
        'identity_data', i.identity_data,
        'provider', i.provider,
        'email', i.email,
        'last_sign_in_at', i.last_sign_in_at,
        'created_at', i.created_at,
        'updated_at', i.updated_at
      ) order by i.created_at)
      from auth.identities as i where i.user_id = u.id
    ), '[]')
  )
  from auth.users as u
  where u.id = described
$$;

-- Creates an account, which needs no confirmation. Null if the address is taken; the hash is computed in both cases.
-- secret: the password, or null for an account that signs in by link only.
create or replace function local_auth.create_user(address text, secret text, metadata jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  made uuid := gen_random_uuid();
  hashed text := coalesce(extensions.crypt(secret, extensions.gen_salt('bf', 10)), '');
begin
  insert into auth.users (
    instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
    created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change
  )
  values (
    '00000000-0000-0000-0000-000000000000', made, 'authenticated', 'authenticated', lower(address), hashed, now(),
    '{"provider": "email", "providers": ["email"]}', coalesce(metadata, '{}') || '{"email_verified": true}', now(), now(),
    '', '', '', ''
  )
  on conflict (email) where not is_sso_user do nothing;
  if not found then
    return null;
  end if;
  insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
  values (
    made, made,
    coalesce(metadata, '{}') || jsonb_build_object('sub', made, 'email', lower(address), 'email_verified', true, 'phone_verified', false),
    'email', now(), now()
  );
  return local_auth.describe_user(made);
end
$$;

create or replace function local_auth.find_user(address text)
returns uuid
language sql stable security definer set search_path = ''
as $$
  select id from auth.users where email = lower(address) and not is_sso_user and deleted_at is null
$$;

-- The user with this address and password, or null. A hash is computed in every case, so that an address without an
-- account, or an account without a password, takes as long as a wrong password.
create or replace function local_auth.check_password(address text, secret text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  candidate uuid;
  kept text;
  computed text;
begin
  select u.id, nullif(u.encrypted_password, '') into candidate, kept
  from auth.users as u
  where u.email = lower(address) and not u.is_sso_user and u.deleted_at is null;
  -- A bcrypt hash of random bytes with the same cost, for accounts without one.
  computed := extensions.crypt(secret, coalesce(kept, '$2a$10$upDPmcVHE313IbBA66LCGOHs8QQ6NDcgLyO1EQHU7m1a6mVVqsSRK'));
  if kept is not null and computed = kept then
    return candidate;
  end if;
  return null;
end
$$;

reset role;
