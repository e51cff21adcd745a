-- A month summary reads the folded days of the month from `monthly_totals`: a row for each project and type, in place of a row for
-- each day of these.
grant select on public.monthly_totals to outlay_key;

-- As of daily totals.
create policy "A key reads the monthly totals whose whole spend it may read"
  on public.monthly_totals for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and
case
    when (select private.key_is_unconfined()) then true
    when (select private.key_users()) is not null then (select private.key_is_of_users()) and dimension = 'user' and (value = any ((select private.key_users())::text[]))
    when dimension = 'project' then (value::uuid in (select private.key_projects()))
    when dimension = 'key' then value = (( select private.key_claims() ->> 'id'))
    else false
end);

alter policy "Nobody reads the monthly totals of a deleted workspace" on public.monthly_totals to authenticated, outlay_key;

-- The month's totals of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Folded days are read from the totals of the month. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the current UTC month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create or replace function private.month_totals(callers json)
returns table (place integer, totals json)
language plpgsql set search_path = '' set enable_sort = off
as $$
#variable_conflict use_column
declare
  month_start date := date_trunc('month', now() at time zone 'UTC');
  month_end date := month_start + interval '1 month';
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
    -- The totals have no rows by project and person together.
    if private.key_users() is null then
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
          from (
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.monthly_totals as folded
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              and folded.first_day = month_start
            union all
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.daily_totals
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              -- Read in this statement, so that no day is folded between the two reads.
              and day >= greatest(month_start, (select folded_until from public.spend_folds where workspace_id = workspace))
              and day < month_end
          ) as totals
          group by value, type
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    else
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from public.daily_spend
          where workspace_id = workspace and environment = in_environment
            and day >= month_start and day < month_end
          group by 1, 2
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    end if;
  end loop;
end
$$;
