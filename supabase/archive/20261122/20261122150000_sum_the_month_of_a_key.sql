-- The month's totals of each project that a key may see. Postgres caches the plans of a PL/pgSQL function per connection;
-- planning took more time than the sums. The function runs with the rights of its caller, under row-level security.

-- Functions that keys call are granted one by one, like those of the service.
grant usage on schema private to outlay_key;

-- returns: the projects that cost something in the current UTC month, the dearest first; USD
create function private.month_totals(workspace uuid, in_environment text)
returns table (
  slug text, name text, total numeric, usage numeric, subscription numeric, expense numeric, messages numeric, unpriced numeric
)
language plpgsql stable security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  first_day date := date_trunc('month', now() at time zone 'UTC');
begin
  -- Summed before the names are joined: sorting every row by its project's name costs as much as all the rest.
  return query
    select projects.slug, projects.name, spend.total, spend.usage, spend.subscription, spend.expense, spend.messages,
      spend.unpriced
    from (
      select value::uuid as project_id,
        coalesce(sum(amount_usd), 0) as total,
        coalesce(sum(amount_usd) filter (where type in ('usage', 'batch', 'allocation')), 0) as usage,
        coalesce(sum(amount_usd) filter (where type = 'subscription'), 0) as subscription,
        coalesce(sum(amount_usd) filter (where type = 'expense'), 0) as expense,
        coalesce(sum(message_count), 0) as messages,
        coalesce(sum(unpriced_count), 0) as unpriced
      from public.daily_totals
      where workspace_id = workspace and environment = in_environment and dimension = 'project'
        and day >= first_day and day < (first_day + interval '1 month')::date
      group by value
    ) as spend
    join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id
    order by total desc, projects.slug;
end
$$;
revoke execute on function private.month_totals(uuid, text) from public;
grant execute on function private.month_totals(uuid, text) to outlay_key;
