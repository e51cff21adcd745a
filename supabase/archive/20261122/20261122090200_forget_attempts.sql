-- Resets the count of wrong guesses of a user who has proved their identity.
-- quotas: [{ subject: hex }], as for `private.admit_attempt`
create function private.forget_attempts(quotas jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.throttle_windows
  where subject in (select decode(value ->> 'subject', 'hex') from jsonb_array_elements(quotas))
$$;
revoke all on function private.forget_attempts(jsonb) from public;
grant execute on function private.forget_attempts(jsonb) to outlay_service, service_role;
