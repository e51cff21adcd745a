-- What usage and batches of each budget's scope cost by UTC day: what forecasts go by.

-- Any dimension has all spend; there are fewest providers. A provider is compared without regard to case.
create view public.budget_usage with (security_invoker = true) as
select b.workspace_id, b.id as budget_id, usage.environment, usage.day, sum(usage.amount_usd) as amount_usd
from public.budgets as b
join public.daily_totals as usage
  on usage.workspace_id = b.workspace_id
    and usage.dimension = case b.scope_type when 'global' then 'provider' else b.scope_type end
    and case b.scope_type
      when 'global' then true when 'provider' then lower(usage.value) = b.scope_key else usage.value = b.scope_key
    end
where usage.type in ('usage', 'batch')
group by b.workspace_id, b.id, usage.environment, usage.day;

revoke all on public.budget_usage from public, anon, authenticated, outlay_key;
grant select on public.budget_usage to authenticated, service_role;

-- The live usage of some budgets of any workspace on some days, for the job that judges them.
--
-- returns: [{ id, day, amount }], the amount as exact text
create function private.usage_of_budgets(budgets uuid[], days date[])
 returns jsonb
 language sql
 stable
 security definer
 set search_path to ''
as $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', budget_id, 'day', to_char(day, 'YYYY-MM-DD'), 'amount', trim_scale(amount_usd)::text
  )), '[]')
  from public.budget_usage
  where environment = 'live' and budget_id = any (budgets) and day = any (days)
$function$;

revoke execute on function private.usage_of_budgets(uuid[], date[]) from public;
grant execute on function private.usage_of_budgets(uuid[], date[]) to outlay_service, service_role;
