-- One question to a user, from the moment the consent page asks it: what was asked stays here, so that a form can answer
-- it but not change it. The form carries a nonce of which only the SHA-256 is kept; it is answered once, by the session
-- that was asked. An answer that allows has a code, good for one exchange within a minute.
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
  -- Of the question, then of the code.
  expires_at timestamptz not null,
  decided_at timestamptz,
  code bytea unique check (octet_length(code) = 32),
  workspace_id uuid references public.workspaces (id) on delete cascade,
  permissions text[],
  project_id uuid,
  monthly_limit numeric check (monthly_limit >= 0),
  redeemed_at timestamptz,
  -- What the code gave, to be taken back where the code comes a second time.
  grant_id uuid,
  check (code is null or (workspace_id is not null and permissions is not null))
);
create index oauth_authorizations_user_id_idx on private.oauth_authorizations (user_id);
create index oauth_authorizations_client_id_idx on private.oauth_authorizations (client_id);
create index oauth_authorizations_workspace_id_idx on private.oauth_authorizations (workspace_id);
create index oauth_authorizations_expires_at_idx on private.oauth_authorizations (expires_at);
alter table private.oauth_authorizations enable row level security;

-- question: { nonce: hex, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource }
-- The page can be opened as often as one likes; of a user's open questions the latest twenty can be answered.
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
    (nonce, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, expires_at)
  select decode(nonce, 'hex'), user_id, session_id, client_id, redirect_uri, state, code_challenge, resource,
    clock_timestamp() + interval '10 minutes'
  from jsonb_to_record(question) as q (
    nonce text, user_id uuid, session_id uuid, client_id text, redirect_uri text, state text, code_challenge text, resource text
  )
$$;

-- The question a nonce belongs to, while it can be answered by this session.
-- returns: { client_id, redirect_uri, state } or null
create function private.open_question(nonce text, user_id uuid, session_id uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('client_id', a.client_id, 'redirect_uri', a.redirect_uri, 'state', a.state)
  from private.oauth_authorizations as a
  where a.nonce = decode(open_question.nonce, 'hex') and a.user_id = open_question.user_id
    and a.session_id = open_question.session_id and a.decided_at is null and a.expires_at > clock_timestamp()
$$;

-- Answers a question, once. decision: { nonce: hex, user_id, session_id } and, where it allows,
-- { code: hex, workspace_id, permissions, project_id, monthly_limit }.
-- returns: whether this was the answer
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

revoke all on function private.ask_consent(jsonb), private.open_question(text, uuid, uuid), private.decide_consent(jsonb) from public;
grant execute on function private.ask_consent(jsonb), private.open_question(text, uuid, uuid), private.decide_consent(jsonb)
  to outlay_service, service_role;
