-- Mails with a link or six digits, the outbox that stores them, and the signing key.
--
-- Functions that change a mail lock its account first and the mail after it, here as in file 52, so that they cannot
-- deadlock.
set local role supabase_auth_admin;

-- Stores a request for a sign-in link. The same statements run for an address without an account.
-- new_account: the data of the account that is created first if there is none; null to create none
-- returns: whether there is an account
create or replace function local_auth.issue_sign_in_mail(
  address text, wanted_purpose text, link_hash text, code text, challenge text, new_account jsonb
)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  holder uuid := local_auth.find_user(address);
begin
  if holder is null and new_account is not null then
    perform local_auth.create_user(address, null, new_account);
    holder := local_auth.find_user(address);
  end if;
  insert into local_auth.mail_tokens (email, purpose, user_id, link_hash, code_hash, code_challenge)
  values (lower(address), wanted_purpose, holder, link_hash, local_auth.hash_code(address, code), challenge)
  on conflict (email, purpose) where purpose in ('recovery', 'magiclink')
  do update set
    user_id = excluded.user_id, link_hash = excluded.link_hash, code_hash = excluded.code_hash, wrong_codes = 0,
    spent = false, code_challenge = excluded.code_challenge, created_at = now();
  delete from local_auth.mail_tokens where user_id is null and created_at < now() - interval '1 hour';
  return holder is not null;
end
$$;

-- Stores the six digits that were sent to a user for a reauthentication.
create or replace function local_auth.issue_reauthentication(asked_user uuid, code text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into local_auth.mail_tokens (email, purpose, user_id, code_hash)
  select u.email, 'reauthentication', u.id, local_auth.hash_code(u.email, code) from auth.users as u where u.id = asked_user
  on conflict (user_id, purpose) where purpose in ('email_change_current', 'email_change_new', 'reauthentication')
  do update set email = excluded.email, code_hash = excluded.code_hash, wrong_codes = 0, spent = false, created_at = now()
$$;

-- Whether a mail can still be redeemed.
create or replace function local_auth.is_good(mail local_auth.mail_tokens)
returns boolean
language sql stable set search_path = ''
as $$
  select mail.user_id is not null and not mail.spent and mail.created_at > now() - interval '1 hour'
$$;

-- Redeems a mail whose secret was presented. The mail and its account are locked. If it was requested with PKCE, the client
-- receives a code (its hash is given here) instead of a session.
-- returns: { user_id, code_issued }, with what confirm_email_change returns
create or replace function local_auth.accept_mail(taken local_auth.mail_tokens, offered_code_hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  accepted jsonb := jsonb_build_object('user_id', taken.user_id, 'code_issued', false);
begin
  update local_auth.mail_tokens set spent = true where id = taken.id;
  if taken.purpose in ('email_change_current', 'email_change_new') then
    accepted := accepted || local_auth.confirm_email_change(taken.user_id);
    if accepted ? 'pending' or accepted ? 'refused' then
      return accepted;
    end if;
  end if;
  if taken.code_challenge is null or offered_code_hash is null then
    return accepted;
  end if;
  delete from local_auth.auth_codes where issued_at < now() - interval '1 hour';
  insert into local_auth.auth_codes (code_hash, user_id, code_challenge)
  values (offered_code_hash, taken.user_id, taken.code_challenge);
  return accepted || '{"code_issued": true}';
end
$$;

-- Redeems the token of an opened link. returns: as accept_mail, or null
create or replace function local_auth.redeem_link(opened_link_hash text, purposes text[], offered_code_hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  taken local_auth.mail_tokens;
begin
  perform from auth.users
  where id = (select user_id from local_auth.mail_tokens where link_hash = opened_link_hash)
  for no key update;
  select * into taken from local_auth.mail_tokens
  where link_hash = opened_link_hash and purpose = any (purposes)
  for update;
  if not found or not local_auth.is_good(taken) then
    return null;
  end if;
  return local_auth.accept_mail(taken, offered_code_hash);
end
$$;

-- Redeems the six digits of a mail. The mails to the address are locked before the digits are compared, so that parallel
-- guesses are counted one by one. After five wrong guesses a mail cannot be redeemed any more.
-- returns: as accept_mail, or null
create or replace function local_auth.redeem_code(address text, given_code text, purposes text[])
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  mail local_auth.mail_tokens;
  taken local_auth.mail_tokens;
begin
  perform from auth.users
  where id in (select user_id from local_auth.mail_tokens where email = lower(address) and purpose = any (purposes))
  order by id
  for no key update;
  for mail in
    select * from local_auth.mail_tokens where email = lower(address) and purpose = any (purposes) order by id for update
  loop
    if mail.code_hash = local_auth.hash_code(address, given_code) and local_auth.is_good(mail) then
      taken := mail;
    end if;
  end loop;
  if taken.id is not null then
    return local_auth.accept_mail(taken, null);
  end if;
  update local_auth.mail_tokens
  set wrong_codes = wrong_codes + 1, spent = spent or wrong_codes >= 4
  where email = lower(address) and purpose = any (purposes) and wrong_codes < 5;
  return null;
end
$$;

-- Redeems the code of an opened link, within five minutes. A wrong verifier does not use it up, so that somebody who has
-- only the code cannot take it from the client.
-- returns: the user's id or { refused: 'flow_state_not_found' | 'bad_code_verifier' }
create or replace function local_auth.redeem_auth_code(given_code_hash text, verifier text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  issued local_auth.auth_codes;
begin
  select * into issued from local_auth.auth_codes
  where code_hash = given_code_hash and issued_at > now() - interval '5 minutes'
  for update;
  if not found then
    return '{"refused": "flow_state_not_found"}';
  end if;
  if issued.code_challenge is distinct from translate(encode(extensions.digest(verifier, 'sha256'), 'base64'), '+/=', '-_') then
    return '{"refused": "bad_code_verifier"}';
  end if;
  delete from local_auth.auth_codes where code_hash = given_code_hash;
  return to_jsonb(issued.user_id);
end
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

-- The signing key. If there is none, the offered one becomes the key of all processes.
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
