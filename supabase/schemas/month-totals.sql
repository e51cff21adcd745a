-- What months cost, read from the sums by day.

-- The totals of the present month of the workspace's time zone, of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Folded days are read from the totals of the month. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create function private.month_totals(callers json)
returns table (place integer, totals json)
language plpgsql set search_path = '' set enable_sort = off
as $$
#variable_conflict use_column
declare
  month_start date;
  month_end date;
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
    month_start := date_trunc('month', now() at time zone private.time_zone_of(workspace));
    month_end := month_start + interval '1 month';
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
grant execute on function private.month_totals(json) to outlay_key;

-- What a project spent in a range of whole days, by pairs of model and feature: far fewer than the rows that it sums. Whole months,
-- and the part of a month that is folded, are read from the monthly sums. The function runs with the rights of its caller, under
-- row-level security. Postgres caches its plan per connection.
create function private.project_pairs(workspace uuid, project uuid, first_day date, until_day date)
returns table (model text, feature text, amount_usd numeric)
language plpgsql stable set search_path = '' set enable_sort = off
as $$
#variable_conflict use_column
declare
  folded_until date := (select f.folded_until from public.spend_folds as f where f.workspace_id = workspace);
  -- From the first month that begins in the range until before this one, or to where days are folded.
  from_month date := (date_trunc('month', first_day - 1) + interval '1 month')::date;
  until_month date := greatest(
    case when folded_until <= until_day then folded_until else date_trunc('month', until_day)::date end, from_month
  );
begin
  if folded_until is null or until_month = from_month or from_month >= until_day then
    return query
      select model, feature, sum(amount_usd)
      from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= first_day and day < until_day
      group by model, feature;
    return;
  end if;
  return query
    select model, feature, sum(amount_usd)
    from (
      select model, feature, amount_usd from public.monthly_spend
      where workspace_id = workspace and project_id = project and month >= from_month and month < until_month
      union all
      select model, feature, amount_usd from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= first_day and day < from_month
      union all
      select model, feature, amount_usd from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= until_month and day < until_day
    ) as spend
    group by model, feature;
end
$$;
grant execute on function private.project_pairs(uuid, uuid, date, date) to outlay_key;
