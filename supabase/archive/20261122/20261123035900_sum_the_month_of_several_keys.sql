-- Summaries that are asked for at the same time are read by one statement: with one statement each, its planning, its
-- transaction and its answer took half of Postgres's time.

drop function private.month_totals(uuid, text);

-- The month's totals of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the current UTC month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create function private.month_totals(callers json)
returns table (place integer, totals json)
language plpgsql security invoker set search_path = ''
-- The rows are summed by hashing: Postgres cannot estimate what the policies admit, expects one row and would sort them.
set enable_sort = off
as $$
#variable_conflict use_column
declare
  first_day date := date_trunc('month', now() at time zone 'UTC');
  until_day date := first_day + interval '1 month';
  caller text;
  caller_place integer := 0;
  workspace uuid;
  in_environment text;
begin
  for caller in select value from json_array_elements_text(callers) loop
    caller_place := caller_place + 1;
    perform set_config('request.api_key', caller, true);
    workspace := private.key_workspace();
    in_environment := private.key_environment();
    return query
      select caller_place, coalesce(
        json_agg(json_build_array(
          projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
        )),
        '[]'
      )
      -- Summed before the names are joined, which are far fewer than the rows.
      from (
        select value::uuid as project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
          sum(unpriced_count) as unpriced, sum(included_usd) as included
        from public.daily_totals
        where workspace_id = workspace and environment = in_environment and dimension = 'project'
          and day >= first_day and day < until_day
        group by value, type
      ) as spend
      join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
  end loop;
end
$$;
revoke execute on function private.month_totals(json) from public;
grant execute on function private.month_totals(json) to outlay_key;
