-- Links by mail, the outbox they end up in, limits on trying, and the signing key.
set local role supabase_auth_admin;

-- Notes that a link was asked for. Makes the account first where `may_create`. The same statements run for an address
-- without an account. returns: whether there is one
create or replace function local_auth.issue_email_token(
  address text, wanted_purpose text, link_hash text, code_hash text, challenge text, challenge_method text,
  may_create boolean, metadata jsonb
)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  holder uuid;
begin
  select u.id into holder from auth.users as u
  where u.email = lower(address) and not u.is_sso_user and u.deleted_at is null;
  if holder is null and may_create then
    perform local_auth.create_user(address, null, metadata);
    select u.id into holder from auth.users as u where u.email = lower(address) and not u.is_sso_user;
  end if;
  insert into local_auth.email_tokens (email, purpose, user_id, link_hash, code_hash, code_challenge, code_challenge_method)
  values (lower(address), wanted_purpose, holder, link_hash, code_hash, challenge, challenge_method)
  on conflict (email, purpose) do update
  set user_id = excluded.user_id, link_hash = excluded.link_hash, code_hash = excluded.code_hash, wrong_codes = 0,
      code_challenge = excluded.code_challenge, code_challenge_method = excluded.code_challenge_method,
      auth_code_hash = null, auth_code_issued_at = null, created_at = now();
  delete from local_auth.email_tokens where created_at < now() - interval '1 hour';
  return holder is not null;
end
$$;

-- Takes a link that was opened. Where it was asked for with PKCE, the opener gets a code for the client that asked (its
-- hash is given here) instead of a session.
-- returns: { user_id, purpose, code_issued } or null
create or replace function local_auth.redeem_link(opened_link_hash text, offered_code_hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  taken local_auth.email_tokens;
begin
  select * into taken from local_auth.email_tokens
  where link_hash = opened_link_hash and user_id is not null and auth_code_hash is null and created_at > now() - interval '1 hour'
  for update;
  if not found then
    return null;
  end if;
  if taken.code_challenge is not null and offered_code_hash is not null then
    update local_auth.email_tokens
    set auth_code_hash = offered_code_hash, auth_code_issued_at = now()
    where email = taken.email and purpose = taken.purpose;
    return jsonb_build_object('user_id', taken.user_id, 'purpose', taken.purpose, 'code_issued', true);
  end if;
  delete from local_auth.email_tokens where email = taken.email and purpose = taken.purpose;
  return jsonb_build_object('user_id', taken.user_id, 'purpose', taken.purpose, 'code_issued', false);
end
$$;

-- Takes the six digits of a mail. Five wrong ones and the mail is worth nothing any more.
-- returns: { user_id, purpose } or null
create or replace function local_auth.redeem_code(address text, given_code_hash text, purposes text[])
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  taken local_auth.email_tokens;
begin
  delete from local_auth.email_tokens
  where email = lower(address) and purpose = any (purposes) and code_hash = given_code_hash
    and user_id is not null and auth_code_hash is null and created_at > now() - interval '1 hour'
  returning * into taken;
  if found then
    return jsonb_build_object('user_id', taken.user_id, 'purpose', taken.purpose);
  end if;
  update local_auth.email_tokens set wrong_codes = wrong_codes + 1 where email = lower(address) and purpose = any (purposes);
  delete from local_auth.email_tokens where email = lower(address) and wrong_codes >= 5;
  return null;
end
$$;

-- Takes the code that opening a link gave. It can be tried once, within five minutes.
-- returns: { user_id, purpose, challenge, method } or null
create or replace function local_auth.redeem_auth_code(given_code_hash text)
returns jsonb
language sql volatile security definer set search_path = ''
as $$
  delete from local_auth.email_tokens
  where auth_code_hash = given_code_hash and auth_code_issued_at > now() - interval '5 minutes'
  returning jsonb_build_object(
    'user_id', user_id, 'purpose', purpose, 'challenge', code_challenge, 'method', code_challenge_method
  )
$$;

-- Keeps the latest 500 mails.
create or replace function local_auth.post_mail(recipient text, subject text, body text, link text, code text)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from local_auth.outbox where id <= (select max(id) - 500 from local_auth.outbox);
  insert into local_auth.outbox (recipient, subject, body, link, code) values (recipient, subject, body, link, code)
$$;

create or replace function local_auth.read_outbox(most integer)
returns setof local_auth.outbox
language sql stable security definer set search_path = ''
as $$
  select * from local_auth.outbox order by id desc limit most
$$;

-- Counts one more attempt, before it is made: attempts that run at the same time cannot all slip under the limit.
-- returns: 0, or the seconds until the next may be made
create or replace function local_auth.count_attempt(counted_subject text, allowed integer, window_seconds integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  counted local_auth.attempts;
begin
  delete from local_auth.attempts where window_ends_at < now() and subject <> counted_subject;
  insert into local_auth.attempts as a (subject, tried, window_ends_at)
  values (counted_subject, 1, now() + make_interval(secs => window_seconds))
  on conflict (subject) do update
  set tried = case when a.window_ends_at < now() then 1 else least(a.tried, 1000000) + 1 end,
      window_ends_at = case when a.window_ends_at < now() then excluded.window_ends_at else a.window_ends_at end
  returning * into counted;
  return case when counted.tried <= allowed then 0
    else greatest(1, ceil(extract(epoch from counted.window_ends_at - now())))::integer end;
end
$$;

create or replace function local_auth.forget_attempts(counted_subject text)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from local_auth.attempts where subject = counted_subject
$$;

-- The signing key. Where there is none yet, the offered one becomes it, for every process.
create or replace function local_auth.keep_signing_key(offered jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if offered is not null then
    insert into local_auth.signing_key (private_jwk) values (offered) on conflict do nothing;
  end if;
  return (select private_jwk from local_auth.signing_key);
end
$$;

reset role;
