-- The rule for which thresholds are due stands once, in alert_on_budgets. What time alone makes due is looked for by
-- calling it for every budget with spend in its present period, so it writes only where something changes.

-- The lowest threshold of a budget above a spend, USD, with the limit of an instant; infinity above all of them.
create function private.next_threshold(budget public.budgets, spent_usd numeric, instant timestamptz)
returns numeric
language sql stable set search_path = ''
as $$
  select coalesce(min(threshold.usd), 'infinity')
  from (
    select private.budget_limit(budget, instant) * percent / 100 as usd from unnest(budget.alert_percents) as percent
    union all
    select usd from unnest(budget.alert_amounts) as usd
  ) as threshold
  where threshold.usd > next_threshold.spent_usd
$$;
revoke execute on function private.next_threshold(public.budgets, numeric, timestamptz) from public;

drop function private.alert_on_budgets(uuid[], uuid[], boolean);

-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period: what was raised before
-- is not raised again, also after a correction lowered the spend.
--
-- A caller that has just counted postings holds the rows of `budget_spend`, so that two at once cannot each see too little.
-- is_quiet: recorded only, and told to nobody.
-- returns: how many were raised
create function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  raised jsonb;
  -- One instant, which Postgres can merge into the statement with the functions that use it.
  at timestamptz := clock_timestamp();
begin
  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'rule', 'budget_threshold', 'subject_type', 'budget', 'subject_id', b.id,
    'period', spend.period_from, 'level', threshold.level, 'is_quiet', alert_on_budgets.is_quiet,
    'details', jsonb_strip_nulls(jsonb_build_object(
      'budget', b.name, 'scope_type', b.scope_type, 'scope_value', b.scope_value, 'percent', coalesce(threshold.percent, trim_scale(round(threshold.usd * 100 / present.limit_usd, 2)))::text,
      'threshold_usd', trim_scale(threshold.usd)::text, 'amount_usd', trim_scale(present.limit_usd)::text,
      'spent_usd', trim_scale(spend.spent_usd)::text, 'period_from', spend.period_from,
      'period_until', private.budget_period_end(b, spend.period_from), 'time_zone', b.time_zone
    ))
  ) order by b.workspace_id, b.id, threshold.usd)
  into raised
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
  ) as present
  join public.budget_spend as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.period_from
  cross join lateral (
    select trim_scale(percent)::text as level, trim_scale(percent) as percent, present.limit_usd * percent / 100 as usd
    from unnest(b.alert_percents) as percent
    union all
    select '$' || trim_scale(usd), null, usd from unnest(b.alert_amounts) as usd
  ) as threshold
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.spent_usd >= threshold.usd
    -- A value rather than a join, so that the few that are asked for are looked up by the index.
    and (
      select a.id from public.alerts as a
      where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
        and a.period = spend.period_from and a.level = threshold.level
    ) is null;
  if raised is not null then
    perform private.raise_alerts(raised);
  end if;
  update public.budget_spend as spend
  set alert_at_usd = private.next_threshold(b, spend.spent_usd, at)
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at)
    and spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at);
  return coalesce(jsonb_array_length(raised), 0);
end
$$;
revoke execute on function private.alert_on_budgets(uuid[], uuid[], boolean) from public;

-- Raises what time alone makes true: a period begins with spend that was booked ahead, or a raise ends.
-- returns: how many alerts were raised
create or replace function private.alert_on_due_budgets()
returns integer
language sql security definer set search_path = ''
as $$
  select private.alert_on_budgets(array_agg(distinct b.workspace_id), array_agg(b.id))
  from public.budgets as b
  join public.budget_spend as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, clock_timestamp())
$$;
