-- Somebody who proved who they are makes the count of their wrong guesses begin anew.
-- quotas: [{ subject: hex }], as `private.admit_attempt` is asked
create function private.forget_attempts(quotas jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.throttle_windows
  where subject in (select decode(value ->> 'subject', 'hex') from jsonb_array_elements(quotas))
$$;
revoke all on function private.forget_attempts(jsonb) from public;
grant execute on function private.forget_attempts(jsonb) to outlay_service, service_role;
