-- The permissions a client asked for stand with the question, so that an answer can allow those and no others.
alter table private.oauth_authorizations add column wanted text[] not null default '{}';

-- question: { nonce: hex, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted }
-- The page can be opened as often as one likes; of a user's open questions the latest twenty can be answered.
create or replace function private.ask_consent(question jsonb)
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
    (nonce, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted, expires_at)
  select decode(nonce, 'hex'), user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted,
    clock_timestamp() + interval '10 minutes'
  from jsonb_to_record(question) as q (
    nonce text, user_id uuid, session_id uuid, client_id text, redirect_uri text, state text, code_challenge text,
    resource text, wanted text[]
  )
$$;

-- The question a nonce belongs to, while it can be answered by this session.
-- returns: { client_id, redirect_uri, state, wanted } or null
create or replace function private.open_question(nonce text, user_id uuid, session_id uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'client_id', a.client_id, 'redirect_uri', a.redirect_uri, 'state', a.state, 'wanted', a.wanted
  )
  from private.oauth_authorizations as a
  where a.nonce = decode(open_question.nonce, 'hex') and a.user_id = open_question.user_id
    and a.session_id = open_question.session_id and a.decided_at is null and a.expires_at > clock_timestamp()
$$;
