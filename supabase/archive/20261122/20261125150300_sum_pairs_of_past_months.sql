-- What a project spent in a range of whole days, by pairs of model and feature: far fewer than the rows that it sums. Whole months,
-- and the part of a month that is folded, are read from the monthly sums. The function runs with the rights of its caller, under
-- row-level security. Postgres caches its plan per connection.
create or replace function private.project_pairs(workspace uuid, project uuid, first_day date, until_day date)
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
