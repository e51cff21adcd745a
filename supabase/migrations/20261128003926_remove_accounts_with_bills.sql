-- Removing a provider account can remove what it billed.

drop function private.remove_provider_account(uuid, uuid);

-- Removes an account and its key, as an admin of the workspace. Its bills stay, or are removed with it.
-- returns: whether there was one
create function private.remove_provider_account(workspace uuid, target uuid, with_bills boolean)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  perform private.lock_bills(workspace);
  if with_bills then
    delete from public.bills where workspace_id = workspace and provider_account_id = target;
  end if;
  delete from public.provider_accounts where workspace_id = workspace and id = target;
  return found;
end
$$;
revoke execute on function private.remove_provider_account(uuid, uuid, boolean) from public;
grant execute on function private.remove_provider_account(uuid, uuid, boolean) to outlay_service, service_role;
