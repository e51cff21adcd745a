-- What is held of the budgets of the caller's workspaces, of which something is.
create function private.held_for_members()
returns table (budget_id uuid, usd numeric)
language sql stable security definer set search_path = ''
as $$
  select h.budget_id, h.usd
  from private.held_of_budgets(array(select private.member_workspaces()), clock_timestamp()) as h
$$;
revoke execute on function private.held_for_members() from public;
grant execute on function private.held_for_members() to authenticated, service_role;

-- What is held of each budget of which something is, for members.
create view public.budget_holds with (security_invoker = true) as
select b.workspace_id, b.id as budget_id, h.usd as held_usd
from private.held_for_members() as h
join public.budgets as b on b.id = h.budget_id;
revoke all on public.budget_holds from anon, authenticated, service_role;
grant select on public.budget_holds to authenticated, service_role;
