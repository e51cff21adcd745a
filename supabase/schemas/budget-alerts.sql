-- Alerts at thresholds of budgets.

-- The present spend may already reach a lower limit or a new threshold. Messages recorded at the same time are counted first or
-- see the new limit: changed_budgets_take_what_waits locks the meter.
create function private.alert_on_changed_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id]);
  perform private.settle_alert_entries(new.workspace_id);
  return null;
end
$$;

create trigger changed_budgets_alert
  after update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate on public.budgets
  for each row execute function private.alert_on_changed_budget();

-- A new budget raises no alerts for thresholds that were reached before it was created.
create function private.count_new_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.count_budget(new);
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id], true);
  return null;
end
$$;

create trigger budgets_count_what_is_there after insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.count_new_budget();

-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period for the limit in force:
-- what was raised before is not raised again, also after a correction lowered the spend. When the limit has changed, the levels
-- above what is spent are armed again and the others stay as they were. The limit is compared in the budget's currency: a new
-- exchange rate is no new limit.
--
-- A caller holds the meters of the workspaces, so that two at once cannot each see too little, and nothing is spent while a
-- limit changes.
-- is_quiet: recorded only, and sent to nobody.
-- returns: how many were raised
create function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised jsonb;
  -- One instant, which Postgres can merge into the statement with the functions that use it.
  at timestamptz := clock_timestamp();
begin
  update public.alerts as a
  set rearmed_at = at
  from public.budgets as b
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, at)
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    -- Where it is not known which limit the alerts are of, they say it themselves.
    and case when spend.alert_amount is null then (a.details ->> 'amount_usd')::numeric <> private.budget_limit(b, at)
      else spend.alert_amount <> private.budget_amount(b, at) end
    and a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
    and a.period = spend.period_from and a.rearmed_at is null
    -- Thresholds in USD are the same for every limit.
    and case when a.level !~ '^\$' then private.budget_limit(b, at) * a.level::numeric / 100 > spend.spent_usd end;

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
  join public.budget_counts as spend
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
        and (a.rearmed_at is null or (a.details ->> 'amount_usd')::numeric = present.limit_usd)
      limit 1
    ) is null;
  if raised is not null then
    perform private.raise_alerts(raised);
  end if;
  update public.budget_counts as spend
  set alert_at_usd = private.next_threshold(b, spend.spent_usd, at), alert_amount = private.budget_amount(b, at)
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at)
    and (
      spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at)
      or spend.alert_amount is distinct from private.budget_amount(b, at)
    );
  return coalesce(jsonb_array_length(raised), 0);
end
$function$;

-- Adds postings to the budgets that they are in. Nearly every group is of one workspace.
create function private.add_budget_spend(postings private.budget_posting[])
returns void
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  first constant uuid := (postings[1]).workspace_id;
  usd numeric;
begin
  select case when bool_and(p.workspace_id = first) then
    coalesce(sum(p.amount_usd) filter (where p.amount_usd > 0 and p.environment = 'live'), 0)
  end into usd
  from unnest(postings) as p;
  if usd is not null then
    perform private.add_spend_of(first, postings, usd);
  else
    perform private.add_spend_of(
      part.workspace_id, part.postings,
      (select coalesce(sum(p.amount_usd), 0) from unnest(part.postings) as p where p.amount_usd > 0 and p.environment = 'live')
    )
    from (
      select p.workspace_id, array_agg(p) as postings from unnest(postings) as p group by 1 order by 1
    ) as part;
  end if;
end
$$;

-- Raises alerts that become due without new spend: a period begins with spend that was booked ahead, or a raise ends. Locks the
-- meters of the workspaces in which something is due, in the order in which messages lock them.
-- returns: how many alerts were raised
create function private.alert_on_due_budgets()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at timestamptz := clock_timestamp();
  due uuid[];
  raised integer;
begin
  select array_agg(workspace_id order by workspace_id) into due
  from (
    select workspace_id from private.budget_meters where valid_until <= at and waiting_groups > 0
    union
    select b.workspace_id
    from public.budgets as b
    join public.budget_counts as spend
      on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
        and spend.period_from = private.budget_period(b, at)
    where spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at)
      or spend.alert_amount is distinct from private.budget_amount(b, at)
  ) as changed;
  perform private.count_waiting_spend(workspace_id) from unnest(due) as workspace_id;
  select private.alert_on_budgets(due, array_agg(b.id)) into raised
  from public.budgets as b
  where b.workspace_id = any (due);
  return raised;
end
$function$;
grant execute on function private.alert_on_due_budgets() to outlay_service, service_role;

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
