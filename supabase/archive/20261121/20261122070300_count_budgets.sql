-- How many budgets a workspace has: a key that may not read all of them is told how many it does not see.
create function private.count_budgets(of_workspace uuid)
returns integer
language sql stable security definer set search_path = ''
as $$
  select count(*)::integer from public.budgets where workspace_id = of_workspace
$$;
revoke all on function private.count_budgets(uuid) from public;
grant execute on function private.count_budgets(uuid) to outlay_service, service_role;
