-- The schema of the local sign-in. On hosted Supabase, Supabase Auth does this work. So it is here and not among the
-- migrations, and it is separate from `auth`, because dumps include `auth` and must not include this.
--
-- The service logs in as outlay_service, which can neither read nor write a table of `auth` or of this schema. It may
-- execute the functions granted in file 56 by name; for example, one checks a password without returning its hash. Each
-- of them is security definer and runs as supabase_auth_admin, the owner of `auth`.
do $$
begin
  -- The migrations create this role if it is missing, but the grants in file 56 need it before.
  if not exists (select from pg_catalog.pg_roles where rolname = 'outlay_service') then
    create role outlay_service nologin noinherit;
  end if;
  if not exists (
    select from pg_catalog.pg_auth_members
    where roleid = 'outlay_service'::regrole and member = 'postgres'::regrole and admin_option
  ) then
    grant outlay_service to postgres with admin option;
  end if;
end
$$;

grant usage on schema extensions to supabase_auth_admin;
create schema if not exists local_auth authorization supabase_auth_admin;
revoke all on schema local_auth from public;
grant usage on schema local_auth to outlay_service, postgres;

set local role supabase_auth_admin;

-- The functions and tables of earlier versions. The following files create the functions again: `create or replace` cannot
-- change what a function returns. No table depends on them.
do $$
declare
  outdated text;
begin
  for outdated in
    select p.oid::regprocedure::text from pg_catalog.pg_proc as p
    where p.pronamespace = 'local_auth'::regnamespace
  loop
    execute 'drop function ' || outdated;
  end loop;
end
$$;
drop table if exists local_auth.email_tokens, local_auth.attempts;

-- The key that signs access tokens, shared by all processes of this database. The first process that needs it creates it.
create table if not exists local_auth.signing_key (
  one boolean primary key default true check (one),
  private_jwk jsonb not null,
  created_at timestamptz not null default now()
);

-- The mails that are stored instead of being sent.
create table if not exists local_auth.outbox (
  id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  link text,
  code text,
  created_at timestamptz not null default now()
);

-- The latest mail of each kind, with the hashes of its link's token and of its six digits. A sign-in mail belongs to its
-- address: without an account the row has no user, so that requesting a link takes the same work for every address. A mail
-- about a change belongs to its account, because two accounts may want the same new address.
create table if not exists local_auth.mail_tokens (
  id bigint generated always as identity primary key,
  email text not null,
  purpose text not null check (
    purpose in ('recovery', 'magiclink', 'email_change_current', 'email_change_new', 'reauthentication')
  ),
  user_id uuid references auth.users (id) on delete cascade,
  -- A reauthentication has no link.
  link_hash text unique,
  code_hash text not null,
  wrong_codes smallint not null default 0,
  -- Whether it was used, revoked, or guessed at too often.
  spent boolean not null default false,
  -- Set if the client uses PKCE (S256): opening the link then gives a code that only that client can exchange.
  code_challenge text,
  created_at timestamptz not null default now()
);
create unique index if not exists mail_tokens_address_idx on local_auth.mail_tokens (email, purpose)
  where purpose in ('recovery', 'magiclink');
create unique index if not exists mail_tokens_account_idx on local_auth.mail_tokens (user_id, purpose)
  where purpose in ('email_change_current', 'email_change_new', 'reauthentication');
create index if not exists mail_tokens_email_idx on local_auth.mail_tokens (email);
create index if not exists mail_tokens_user_id_idx on local_auth.mail_tokens (user_id);

-- The codes that opened links gave to clients with PKCE.
create table if not exists local_auth.auth_codes (
  code_hash text primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  code_challenge text not null,
  issued_at timestamptz not null default now()
);
create index if not exists auth_codes_user_id_idx on local_auth.auth_codes (user_id);

-- Columns of earlier versions.
alter table local_auth.mail_tokens drop column if exists code_challenge_method;
alter table local_auth.auth_codes drop column if exists code_challenge_method, drop column if exists method;

-- Second factors, with Supabase's names and columns. Secrets are stored in base32, as Supabase Auth does by default, so that
-- a dump can be restored there. No API role and no login of the service may read the table.
do $$
begin
  if to_regtype('auth.factor_type') is null then
    create type auth.factor_type as enum ('totp', 'webauthn', 'phone', 'recovery_code');
  end if;
  if to_regtype('auth.factor_status') is null then
    create type auth.factor_status as enum ('unverified', 'verified');
  end if;
end
$$;

create table if not exists auth.mfa_factors (
  id uuid primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  friendly_name text,
  factor_type auth.factor_type not null,
  status auth.factor_status not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  secret text,
  phone text,
  last_challenged_at timestamptz,
  web_authn_credential jsonb,
  web_authn_aaguid uuid,
  last_webauthn_challenge_data jsonb
);
create unique index if not exists mfa_factors_user_friendly_name_unique on auth.mfa_factors (friendly_name, user_id)
  where trim(friendly_name) <> '';
create index if not exists factor_id_created_at_idx on auth.mfa_factors (user_id, created_at);
create index if not exists mfa_factors_user_id_idx on auth.mfa_factors (user_id);

create table if not exists auth.mfa_challenges (
  id uuid primary key,
  factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
  created_at timestamptz not null,
  verified_at timestamptz,
  ip_address inet not null,
  otp_code text,
  web_authn_session_data jsonb
);
create index if not exists mfa_challenge_created_at_idx on auth.mfa_challenges (created_at desc);
create index if not exists mfa_challenges_factor_id_idx on auth.mfa_challenges (factor_id);

-- The last 30-second step whose code was accepted, per factor: a code is accepted once (RFC 6238 section 5.2).
create table if not exists local_auth.taken_steps (
  factor_id uuid primary key references auth.mfa_factors (id) on delete cascade,
  last_step bigint not null
);

-- The ten codes of a factor of type recovery_code. They have as many random bits as tokens, so they are stored as SHA-256
-- without a salt.
create table if not exists local_auth.recovery_codes (
  factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
  code_hash text not null,
  used_at timestamptz,
  primary key (factor_id, code_hash)
);

alter table auth.mfa_factors enable row level security;
alter table auth.mfa_challenges enable row level security;
grant all on auth.mfa_factors, auth.mfa_challenges to postgres;
alter table local_auth.signing_key enable row level security;
alter table local_auth.outbox enable row level security;
alter table local_auth.mail_tokens enable row level security;
alter table local_auth.auth_codes enable row level security;
alter table local_auth.taken_steps enable row level security;
alter table local_auth.recovery_codes enable row level security;

reset role;
