-- What happens to an account's second factors concerns every workspace that the account reaches: each gets a line.
create function private.audit_account(holder uuid, holder_email text, done text, caller_address text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, address)
  select m.workspace_id, holder, holder_email, done, split_part(done, '.', 1) || ' ' || holder, caller_address
  from public.workspace_members as m
  where m.user_id = holder
$$;
revoke all on function private.audit_account(uuid, text, text, text) from public;
grant execute on function private.audit_account(uuid, text, text, text) to outlay_service, service_role;
