-- The rules about a workspace's usage, from the daily totals.

-- The median of some amounts; null of none.
create function private.median(amounts numeric[])
returns numeric
language sql immutable set search_path = ''
as $$
  select (sorted[(cardinality(sorted) + 1) / 2] + sorted[cardinality(sorted) / 2 + 1]) / 2
  from (select array(select amount from unnest(amounts) as amount order by amount) as sorted) as all_amounts
  where cardinality(sorted) > 0
$$;

-- From which amount on a day is unusual, compared with others: above their median by five times their median distance from
-- it (scaled by 1.4826 to a standard deviation), by as much as the median itself, and by a least amount.
-- https://en.wikipedia.org/wiki/Median_absolute_deviation
create function private.unusual_above(amounts numeric[], least_usd numeric, out median_usd numeric, out mad_usd numeric, out above_usd numeric)
language plpgsql immutable set search_path = ''
as $$
begin
  median_usd := private.median(amounts);
  mad_usd := private.median(array(select abs(amount - median_usd) from unnest(amounts) as amount));
  above_usd := median_usd + greatest(mad_usd * 5 * 1.4826, median_usd, least_usd);
end
$$;

-- A day whose usage is far above the same weekdays of the four weeks before. Subscriptions and expenses are left out: they
-- are booked on days of the month. A workspace younger than four weeks is not judged. The last minutes of a day are judged
-- after it.
create function private.judge_unusual_days(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with today as (select ((at - interval '5 minutes') at time zone 'UTC')::date as day),
  spent as materialized (
    select w.id as workspace_id, w.name, today.day, usage.spent_usd, private.alert_rule_parameter(w.id, 'unusual_day') as least_usd
    from today
    cross join public.workspaces as w
    cross join lateral (
      select sum(t.amount_usd) as spent_usd
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'provider' and t.day = today.day
        and t.type not in ('subscription', 'expense')
    ) as usage
    where usage.spent_usd > 0
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = w.id and s.rule = 'unusual_day' and s.subject_id = w.id::text and s.period = today.day
      )
  ), compared as (
    select spent.workspace_id, spent.name, spent.day, spent.spent_usd, spent.least_usd, before.days, before.amounts
    from spent
    cross join lateral (
      select array_agg(of_day.spent_usd order by of_day.day) as amounts,
        jsonb_agg(jsonb_build_object('day', of_day.day, 'spent_usd', trim_scale(of_day.spent_usd)::text) order by of_day.day) as days
      from (
        select spent.day - 7 * weeks as day, coalesce(sum(t.amount_usd), 0) as spent_usd
        from generate_series(1, 4) as weeks
        left join public.daily_totals as t
          on t.workspace_id = spent.workspace_id and t.environment = 'live' and t.dimension = 'provider'
            and t.day = spent.day - 7 * weeks and t.type not in ('subscription', 'expense')
        group by 1
      ) as of_day
    ) as before
    where spent.least_usd is not null and spent.spent_usd >= spent.least_usd
      and exists (
        select from public.daily_totals as t
        where t.workspace_id = spent.workspace_id and t.environment = 'live' and t.dimension = 'provider'
          and t.day <= spent.day - 28
      )
  )
  (
    select jsonb_build_object(
      'workspace_id', c.workspace_id, 'rule', 'unusual_day', 'subject_type', 'workspace', 'subject_id', c.workspace_id,
      'period', c.day, 'state', 'warning',
      'details', jsonb_build_object(
        'subject', c.name, 'day', c.day, 'spent_usd', trim_scale(c.spent_usd)::text,
        'median_usd', trim_scale(usual.median_usd)::text, 'mad_usd', trim_scale(usual.mad_usd)::text,
        'above_usd', trim_scale(usual.above_usd)::text, 'compared', c.days, 'period_from', c.day, 'period_until', c.day + 1
      )
    )
    from compared as c
    cross join lateral private.unusual_above(c.amounts, c.least_usd) as usual
    where c.spent_usd >= usual.above_usd
    limit 1000
  )
  union all
  (
    -- A day passes by itself.
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'forget'
    )
    from public.alert_states as s
    where s.rule = 'unusual_day' and s.period < (select day from today)
      -- The new day may be unusual, too.
      and not exists (
        select from compared as c
        cross join lateral private.unusual_above(c.amounts, c.least_usd) as usual
        where c.workspace_id = s.workspace_id and c.spent_usd >= usual.above_usd
      )
    limit 1000
  )
$$;

-- Models that are used in the present month and have no price; and those of which all is priced now.
create function private.judge_unpriced_usage(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with month as (select date_trunc('month', at at time zone 'UTC')::date as first_day),
  unpriced as (
    select w.id as workspace_id, month.first_day, usage.model, usage.line_count
    from month
    cross join public.workspaces as w
    cross join lateral (
      select t.value as model, sum(t.unpriced_count) as line_count
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'model' and t.day >= month.first_day
      group by t.value
      having sum(t.unpriced_count) > 0
    ) as usage
  ), fresh as materialized (
    select u.*, coalesce(u.model, '(no model)') as subject_id
    from unpriced as u
    where not exists (
      select from public.alert_states as s
      where s.workspace_id = u.workspace_id and s.rule = 'unpriced_usage' and s.subject_id = coalesce(u.model, '(no model)')
    )
    and private.alert_rule_parameter(u.workspace_id, 'unpriced_usage') is not null
    limit 1000
  )
  select jsonb_build_object(
    'workspace_id', f.workspace_id, 'rule', 'unpriced_usage', 'subject_type', 'model', 'subject_id', left(f.subject_id, 256),
    'period', f.first_day, 'state', 'warning',
    'details', jsonb_build_object(
      'subject', coalesce(f.model, 'no model'), 'model', f.model, 'line_count', f.line_count,
      'provider', (
        select d.provider from public.daily_spend as d
        where d.workspace_id = f.workspace_id and d.environment = 'live' and d.model is not distinct from f.model
          and d.day >= f.first_day and d.unpriced_count > 0
        order by d.day desc
        limit 1
      ),
      'period_from', f.first_day, 'period_until', (f.first_day + interval '1 month')::date
    )
  )
  from fresh as f
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('line_count', 0)
    )
    from public.alert_states as s
    where s.rule = 'unpriced_usage'
      and not exists (
        select from public.daily_totals as t
        where t.workspace_id = s.workspace_id and t.environment = 'live' and t.dimension = 'model' and t.day >= s.period
          and coalesce(t.value, '(no model)') = s.subject_id
        group by t.value
        having sum(t.unpriced_count) > 0
      )
    limit 1000
  )
$$;

-- Judges every rule but those of budgets, for all workspaces. Another process that judges meanwhile does it instead.
-- at: the moment to judge at; another one than the present in tests. returns: how many alerts were to be raised
create function private.judge_alert_rules(at timestamptz default clock_timestamp())
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  verdicts jsonb;
begin
  if not private.lock_alert_rules() then
    return 0;
  end if;
  select jsonb_agg(verdict) into verdicts
  from (
    select private.judge_gone_keys(at) as verdict
    union all select private.judge_key_limits(at)
    union all select private.judge_key_expiries(at)
    union all select private.judge_silent_sources(at)
    union all select private.judge_unusual_days(at)
    union all select private.judge_unpriced_usage(at)
  ) as judged;
  if verdicts is null then
    return 0;
  end if;
  return private.settle_alert_states(verdicts);
end
$$;
grant execute on function private.judge_alert_rules(timestamptz) to outlay_service, service_role;
