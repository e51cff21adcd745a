-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period: what was raised before
-- is not raised again, also after a correction lowered the spend.
--
-- A caller that has just counted postings holds the rows of `budget_spend`, so that two at once cannot each see too little.
-- is_quiet: recorded only, and told to nobody.
create function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
returns void
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
  set alert_at_usd = coalesce((
    select min(usd)
    from (
      select private.budget_limit(b, at) * percent / 100 as usd from unnest(b.alert_percents) as percent
      union all
      select usd from unnest(b.alert_amounts) as usd
    ) as threshold
    where usd > spend.spent_usd
  ), 'infinity')
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at);
end
$$;
revoke execute on function private.alert_on_budgets(uuid[], uuid[], boolean) from public;

-- Adds postings to the budgets that they are in, and raises the alerts of those that reach a threshold by it.
create function private.add_budget_spend(postings private.budget_posting[])
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  workspaces uuid[];
  counted uuid[];
begin
  -- Summed by name first: postings that are recorded together have few names, and each name has few budgets. All postings
  -- of a quarter of an hour lie in the same day of any time zone.
  with named as materialized (
    select p.workspace_id, p.environment, scope.scope_type, scope.scope_key,
      date_bin('15 minutes', p.occurred_at, timestamptz '2000-01-01 00:00:00Z') as at,
      sum(p.amount_usd) as spent_usd,
      coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0) as booked_usd
    from unnest(postings) as p
    cross join lateral (
      values ('global', ''), ('project', p.project_id::text), ('key', p.api_key_id::text), ('provider', lower(p.provider)),
        ('model', p.model), ('feature', p.feature), ('user', p.end_user)
      union all
      select 'tag', tag from unnest(p.tags) as tag
    ) as scope (scope_type, scope_key)
    where scope.scope_key is not null and p.amount_usd <> 0
    group by 1, 2, 3, 4, 5
  ), counted as materialized (
    select b.workspace_id, b.id, named.environment, private.budget_period(b, named.at) as period_from, b.counted_from,
      named.spent_usd, named.booked_usd
    from named
    join public.budgets as b
      on b.workspace_id = named.workspace_id and b.scope_type = named.scope_type and b.scope_key = named.scope_key
  ), added as (
    insert into public.budget_spend as spend (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
    select workspace_id, id, environment, period_from, sum(spent_usd), sum(booked_usd)
    from counted
    where period_from >= counted_from
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (workspace_id, budget_id, environment, period_from) do update
      set spent_usd = spend.spent_usd + excluded.spent_usd, booked_usd = spend.booked_usd + excluded.booked_usd
    returning workspace_id, budget_id, environment, spent_usd >= coalesce(alert_at_usd, 0) as is_due
  )
  select array_agg(distinct workspace_id), array_agg(distinct budget_id) into workspaces, counted
  from added
  where environment = 'live' and is_due;
  if counted is not null then
    perform private.alert_on_budgets(workspaces, counted);
  end if;
end
$$;
revoke execute on function private.add_budget_spend(private.budget_posting[]) from public;

-- A new budget is quiet about the thresholds that were reached before it was made.
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
revoke execute on function private.count_new_budget() from public;
create trigger budgets_count_what_is_there after insert on public.budgets
  for each row execute function private.count_new_budget();

-- A lower limit or a new threshold may be reached by what is spent already.
create function private.alert_on_changed_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  -- What is being recorded meanwhile is counted first, or sees the new limit.
  perform 1 from public.budget_spend where workspace_id = new.workspace_id and budget_id = new.id for update;
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id]);
  return null;
end
$$;
revoke execute on function private.alert_on_changed_budget() from public;
create trigger changed_budgets_alert after update of amount, raised_amount, raised_until, alert_percents, alert_amounts
  on public.budgets for each row execute function private.alert_on_changed_budget();

-- Raises what time alone makes true: a period begins with spend that was booked ahead, or a raise ends.
-- returns: how many alerts were raised
create function private.alert_on_due_budgets()
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  due uuid[];
  workspaces uuid[];
  before bigint;
begin
  select array_agg(b.id), array_agg(distinct b.workspace_id) into due, workspaces
  from public.budgets as b
  join public.budget_spend as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, clock_timestamp())
  where exists (
    select from unnest(b.alert_percents) as percent
    where spend.spent_usd * 100 >= private.budget_limit(b, clock_timestamp()) * percent
      and not exists (
        select from public.alerts as a
        where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
          and a.period = spend.period_from and a.level = trim_scale(percent)::text
      )
  ) or exists (
    select from unnest(b.alert_amounts) as usd
    where spend.spent_usd >= usd
      and not exists (
        select from public.alerts as a
        where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
          and a.period = spend.period_from and a.level = '$' || trim_scale(usd)
      )
  );
  if due is null then
    return 0;
  end if;
  before := (select count(*) from public.alerts where workspace_id = any (workspaces) and subject_id = any (due::text[]));
  perform private.alert_on_budgets(workspaces, due);
  return (select count(*) from public.alerts where workspace_id = any (workspaces) and subject_id = any (due::text[])) - before;
end
$$;
revoke execute on function private.alert_on_due_budgets() from public;
grant execute on function private.alert_on_due_budgets() to outlay_service, service_role;
