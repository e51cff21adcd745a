-- Changes of an account by its own user.
set local role supabase_auth_admin;

-- Whether a session began with a mail within the last hour, which proves that its user reads the account's mail.
create or replace function local_auth.began_by_recent_mail(asked_session uuid, asked_user uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (
    select from auth.sessions as s
    join auth.mfa_amr_claims as m on m.session_id = s.id
    where s.id = asked_session and s.user_id = asked_user
      and m.authentication_method in ('recovery', 'otp', 'magiclink') and m.created_at > now() - interval '1 hour'
  )
$$;

-- Revokes the mails that were sent before a change; a pending change of address ends too.
create or replace function local_auth.revoke_mails(revoked uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  update local_auth.mail_tokens set spent = true where user_id = revoked and not spent;
  delete from local_auth.auth_codes where user_id = revoked;
  update auth.users set email_change = '', email_change_confirm_status = 0 where id = revoked and email_change <> '';
$$;

-- Why a new password may not be set, or null. Computes up to two hashes and locks nothing.
-- changes: as for update_user; if it has `nonce`, which the caller redeems, no other proof is required
create or replace function local_auth.refuse_password(changed auth.users, by_session uuid, changes jsonb)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  kept text := nullif(changed.encrypted_password, '');
  present text := changes ->> 'current_password';
begin
  if present is not null then
    if kept is null or extensions.crypt(present, kept) <> kept then
      return 'current_password_invalid';
    end if;
    -- The present password was right, so comparing the texts saves another hash.
    return case when present = changes ->> 'password' then 'same_password' end;
  end if;
  if not (changes ? 'nonce' or local_auth.began_by_recent_mail(by_session, changed.id)) then
    return 'reauthentication_needed';
  end if;
  if kept is not null and extensions.crypt(changes ->> 'password', kept) = kept then
    return 'same_password';
  end if;
  return null;
end
$$;

-- Merges changes into a user's data: null removes a member, other values set it.
create or replace function local_auth.merge_metadata(kept jsonb, changes jsonb)
returns jsonb
language sql immutable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(key, value), '{}')
  from jsonb_each(coalesce(kept, '{}') || changes)
  where value <> 'null'
$$;

-- The hash of six digits as stored. It includes the address, because the same digits occur in many mails.
create or replace function local_auth.hash_code(address text, code text)
returns text
language sql immutable set search_path = ''
as $$
  select encode(extensions.digest(lower(address) || E'\n' || code, 'sha256'), 'hex')
$$;

-- Stores a change of address, which takes effect once the mails to the present and the new address have confirmed it.
-- mail: { current: { link_hash, code }, new: { link_hash, code }, challenge }
create or replace function local_auth.begin_email_change(changed auth.users, wanted text, mail jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  update auth.users
  set email_change = wanted, email_change_confirm_status = 0, updated_at = now()
  where id = changed.id;
  insert into local_auth.mail_tokens (email, purpose, user_id, link_hash, code_hash, code_challenge)
  select sent.email, sent.purpose, changed.id, sent.secrets ->> 'link_hash',
    local_auth.hash_code(sent.email, sent.secrets ->> 'code'),
    mail ->> 'challenge'
  from (values
    (changed.email::text, 'email_change_current', mail -> 'current'),
    (wanted, 'email_change_new', mail -> 'new')
  ) as sent (email, purpose, secrets)
  on conflict (user_id, purpose) where purpose in ('email_change_current', 'email_change_new', 'reauthentication')
  do update set
    email = excluded.email, link_hash = excluded.link_hash, code_hash = excluded.code_hash, wrong_codes = 0, spent = false,
    code_challenge = excluded.code_challenge, created_at = now();
$$;

-- Changes the given members of { email, password, data }, all or none. A new password needs proof of identity:
-- `current_password`, `nonce` (the digits of a mail), or a session that has just begun with a mail. It ends the user's
-- other sessions. A new address needs `mail`, as for begin_email_change.
-- returns: { user } or { refused }
create or replace function local_auth.update_user(changed uuid, by_session uuid, changes jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  seen auth.users;
  kept auth.users;
  hashed text;
  refusal text;
  metadata jsonb;
  wanted text := lower(changes ->> 'email');
begin
  select * into seen from auth.users where id = changed;
  if changes ? 'password' then
    refusal := local_auth.refuse_password(seen, by_session, changes);
    if refusal is not null then
      return jsonb_build_object('refused', refusal);
    end if;
    hashed := extensions.crypt(changes ->> 'password', extensions.gen_salt('bf', 10));
  end if;

  -- Hashes take long, so they were computed before the account was locked.
  select * into kept from auth.users where id = changed for no key update;
  if hashed is not null and kept.encrypted_password is distinct from seen.encrypted_password then
    return '{"refused": "conflict"}';
  end if;
  metadata := local_auth.merge_metadata(kept.raw_user_meta_data, coalesce(changes -> 'data', '{}'));
  -- Every access token contains the data. Data that was larger before can be made smaller.
  if changes ? 'data' and octet_length(metadata::text) > 3072
    and octet_length(metadata::text) >= octet_length(kept.raw_user_meta_data::text) then
    return '{"refused": "user_data_too_large"}';
  end if;
  if wanted is not null and wanted <> kept.email and local_auth.find_user(wanted) is not null then
    return '{"refused": "email_exists"}';
  end if;
  -- The last check, because it uses the code up.
  if hashed is not null and changes ? 'nonce' and not changes ? 'current_password'
    and local_auth.redeem_code(kept.email, changes ->> 'nonce', '{reauthentication}') is null then
    return '{"refused": "reauthentication_not_valid"}';
  end if;

  if changes ? 'data' then
    update auth.users set raw_user_meta_data = metadata, updated_at = now() where id = changed;
  end if;
  if hashed is not null then
    update auth.users set encrypted_password = hashed, updated_at = now() where id = changed;
    delete from auth.sessions where user_id = changed and id is distinct from by_session;
    perform local_auth.revoke_mails(changed);
  end if;
  if wanted is not null and wanted <> kept.email then
    perform local_auth.begin_email_change(kept, wanted, changes -> 'mail');
  end if;
  return jsonb_build_object('user', local_auth.describe_user(changed));
end
$$;

-- Replaces the secrets of a pending change of address. returns: the new address, or null if there is none
create or replace function local_auth.renew_email_change(address text, mail jsonb)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  holder auth.users;
begin
  select * into holder from auth.users
  where email = lower(address) and not is_sso_user and deleted_at is null and email_change <> ''
  for no key update;
  if not found then
    return null;
  end if;
  perform local_auth.begin_email_change(holder, holder.email_change, mail);
  return holder.email_change;
end
$$;

-- Sets the new address once both addresses have confirmed it. The caller has locked the account.
-- returns: { pending: true } after the first confirmation, { refused: 'email_exists' } if another account has the address
create or replace function local_auth.confirm_email_change(changed uuid)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  kept auth.users;
begin
  select * into kept from auth.users where id = changed;
  if kept.email_change_confirm_status = 0 then
    update auth.users set email_change_confirm_status = 1, updated_at = now() where id = changed;
    return '{"pending": true}';
  end if;
  begin
    update auth.users
    set email = kept.email_change, email_confirmed_at = now(), updated_at = now()
    where id = changed;
  exception when unique_violation then
    perform local_auth.revoke_mails(changed);
    return '{"refused": "email_exists"}';
  end;
  update auth.identities
  set identity_data = identity_data || jsonb_build_object('email', kept.email_change, 'email_verified', true), updated_at = now()
  where user_id = changed and provider = 'email';
  perform local_auth.revoke_mails(changed);
  return '{}';
end
$$;

reset role;
