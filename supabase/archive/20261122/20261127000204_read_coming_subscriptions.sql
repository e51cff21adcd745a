-- The recurring subscriptions of some workspaces of which a period begins before a day, for the job that forecasts budgets.
create function private.coming_subscriptions(workspaces uuid[], before date, at_most integer)
 returns setof public.recurring_subscriptions
 language sql
 stable security definer
 set search_path to ''
as $function$
  select * from public.recurring_subscriptions as s
  where s.workspace_id = any (workspaces) and s.next_on < before and s.environment = 'live'
  order by s.next_on, s.id
  limit at_most
$function$;
revoke execute on function private.coming_subscriptions(uuid[], date, integer) from public;
grant execute on function private.coming_subscriptions(uuid[], date, integer) to outlay_service, service_role;
