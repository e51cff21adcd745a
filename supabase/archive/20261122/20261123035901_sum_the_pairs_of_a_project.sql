-- A project's spend by model and by feature is summed from every combination of its names. Postgres cannot estimate what the
-- policies admit, expects a few rows, and sorted the thousands of a month to group them.

-- What a project spent in a range of whole days, by pairs of model and feature: far fewer than the rows that it sums. The
-- function runs with the rights of its caller, under row-level security. Postgres caches its plan per connection.
create function private.project_pairs(workspace uuid, project uuid, first_day date, until_day date)
returns table (model text, feature text, amount_usd numeric)
language plpgsql stable security invoker set search_path = ''
-- The rows are summed by hashing.
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
    select model, feature, sum(amount_usd)
    from public.daily_spend
    where workspace_id = workspace and project_id = project and day >= first_day and day < until_day
    group by model, feature;
end
$$;
revoke execute on function private.project_pairs(uuid, uuid, date, date) from public;
grant execute on function private.project_pairs(uuid, uuid, date, date) to outlay_key;
