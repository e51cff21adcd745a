-- The local sign-in's own schema. Hosted Supabase has none of it: there, Supabase Auth does this work. That is why it
-- is here and not among the migrations, and why it is apart from `auth`, which a dump takes along and this stays behind.
--
-- The service logs in as outlay_service, which can neither read nor write a table of `auth` or of this schema. It may
-- run the functions granted in 56 by name: they check a password without giving out its hash, and so on. Each of them
-- is a definer that acts as supabase_auth_admin, the owner of `auth`, and as nobody stronger.
do $$
begin
  -- The migrations make this role where it is missing; the grants in 56 need it before they have run.
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

-- The key that signs access tokens, one for all processes on this database: the first that needs it makes it.
create table if not exists local_auth.signing_key (
  one boolean primary key default true check (one),
  private_jwk jsonb not null,
  created_at timestamptz not null default now()
);

-- What would be sent by mail elsewhere.
create table if not exists local_auth.outbox (
  id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  link text,
  code text,
  created_at timestamptz not null default now()
);

-- The latest mail of each kind, with the hashes of its link's token and of its six digits. A mail to sign in with is its
-- address's: where there is no account there is a row without a user, so that asking for a link does the same work for
-- every address. A mail about a change is its account's: two accounts may want the same new address.
drop table if exists local_auth.email_tokens;
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
  -- Used, revoked or guessed at too often.
  spent boolean not null default false,
  -- Set where the client asked with PKCE: opening the link then gives a code that only that client can exchange.
  code_challenge text,
  code_challenge_method text check (code_challenge_method in ('s256', 'plain')),
  created_at timestamptz not null default now()
);
create unique index if not exists mail_tokens_address_idx on local_auth.mail_tokens (email, purpose)
  where purpose in ('recovery', 'magiclink');
create unique index if not exists mail_tokens_account_idx on local_auth.mail_tokens (user_id, purpose)
  where purpose in ('email_change_current', 'email_change_new', 'reauthentication');
create index if not exists mail_tokens_email_idx on local_auth.mail_tokens (email);
create index if not exists mail_tokens_user_id_idx on local_auth.mail_tokens (user_id);

-- Codes that opening a link gave, for the client that asked for the link with PKCE.
create table if not exists local_auth.auth_codes (
  code_hash text primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  -- What the session's token will say of how it began: recovery, magiclink or email_change.
  method text not null,
  code_challenge text not null,
  code_challenge_method text not null check (code_challenge_method in ('s256', 'plain')),
  issued_at timestamptz not null default now()
);
create index if not exists auth_codes_user_id_idx on local_auth.auth_codes (user_id);

alter table local_auth.signing_key enable row level security;
alter table local_auth.outbox enable row level security;
alter table local_auth.mail_tokens enable row level security;
alter table local_auth.auth_codes enable row level security;

reset role;
