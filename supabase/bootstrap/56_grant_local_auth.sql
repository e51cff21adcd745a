-- The functions of the local sign-in that the service may execute. The others are called by these only.
set local role supabase_auth_admin;

revoke execute on all functions in schema local_auth from public;
grant execute on function
  local_auth.create_user(text, text, jsonb),
  local_auth.find_user(text),
  local_auth.check_password(text, text),
  local_auth.update_user(uuid, uuid, jsonb),
  local_auth.open_session(uuid, text, text, text),
  local_auth.refresh_session(text),
  local_auth.read_session_user(uuid, uuid),
  local_auth.close_sessions(uuid, uuid, text),
  local_auth.renew_email_change(text, jsonb),
  local_auth.issue_sign_in_mail(text, text, text, text, text, jsonb),
  local_auth.issue_reauthentication(uuid, text),
  local_auth.redeem_link(text, text[], text),
  local_auth.redeem_code(text, text, text[]),
  local_auth.redeem_auth_code(text, text),
  local_auth.post_mail(text, text, text, text, text),
  local_auth.read_outbox(integer),
  local_auth.keep_signing_key(jsonb),
  local_auth.lacks_second_factor(uuid, uuid),
  local_auth.enrol_totp(uuid, uuid, text, text),
  local_auth.challenge_factor(uuid, uuid, text),
  local_auth.open_challenge(uuid, uuid, uuid, uuid, text),
  local_auth.pass_challenge(uuid, uuid, uuid, uuid, bigint),
  local_auth.remove_factor(uuid, uuid, uuid),
  local_auth.read_recovery_codes(uuid),
  local_auth.keep_recovery_codes(uuid, uuid, text[], boolean),
  local_auth.use_recovery_code(uuid, uuid, text),
  local_auth.remove_recovery_codes(uuid, uuid)
to outlay_service, postgres;

reset role;
