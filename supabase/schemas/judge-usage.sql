-- How the rules about usage are judged.

-- The median of some amounts; null of none.
create function private.median(amounts numeric[])
returns numeric
language sql immutable set search_path = ''
as $$
  select (sorted[(cardinality(sorted) + 1) / 2] + sorted[cardinality(sorted) / 2 + 1]) / 2
  from (select array(select amount from unnest(amounts) as amount order by amount) as sorted) as all_amounts
  where cardinality(sorted) > 0
$$;

-- The amount from which a day is unusual, compared with others. It exceeds their median by five times their median distance
-- from it (scaled by 1.4826 to a standard deviation), by the median itself, and by a minimum.
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
-- are booked on days of the month. So are adjustments of closed months, which are booked when they are recorded. A workspace younger than four weeks is not judged. The last minutes of a day are judged
-- after it.
create function private.judge_unusual_days(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with spent as materialized (
    select w.id as workspace_id, w.name, w.time_zone, today.day, coalesce(r.parameter, d.parameter) as least_usd, usage.*
    from public.workspaces as w
    cross join lateral (select ((at - interval '5 minutes') at time zone w.time_zone)::date as day) as today
    join private.alert_rule_defaults() as d on d.rule = 'unusual_day'
    left join public.alert_rules as r on r.workspace_id = w.id and r.rule = 'unusual_day'
    cross join lateral (
      -- One look into the index for the five days.
      select coalesce(sum(t.amount_usd) filter (where t.day = today.day), 0) as spent_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 7), 0) as first_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 14), 0) as second_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 21), 0) as third_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 28), 0) as fourth_usd
      from (
        select day, amount_usd
        from public.daily_totals
        where workspace_id = w.id and environment = 'live' and dimension = 'provider'
          and day = any (array[today.day, today.day - 7, today.day - 14, today.day - 21, today.day - 28])
          and type not in ('subscription', 'expense', 'bill_adjustment')
        union all
        select day, -amount_usd
        from public.daily_adjustments
        where workspace_id = w.id and environment = 'live' and occurred_at > at - interval '31 days'
          and exists (select from public.closed_months as closed where closed.workspace_id = w.id)
          and type not in ('subscription', 'expense', 'bill_adjustment')
      ) as t
    ) as usage
    where coalesce(r.is_on, true)
  ), unusual as materialized (
    select spent.*, usual.*
    from spent
    cross join lateral private.unusual_above(array[first_usd, second_usd, third_usd, fourth_usd], least_usd) as usual
    where spent_usd >= least_usd
      -- Twice the median of four, without sorting: most days end here.
      and spent_usd >= first_usd + second_usd + third_usd + fourth_usd
        - greatest(first_usd, second_usd, third_usd, fourth_usd) - least(first_usd, second_usd, third_usd, fourth_usd)
      and spent_usd >= usual.above_usd
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = spent.workspace_id and s.rule = 'unusual_day' and s.period = spent.day
      )
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
        'subject', c.name, 'day', c.day, 'time_zone', c.time_zone, 'spent_usd', trim_scale(c.spent_usd)::text,
        'median_usd', trim_scale(c.median_usd)::text, 'mad_usd', trim_scale(c.mad_usd)::text,
        'above_usd', trim_scale(c.above_usd)::text,
        'compared', jsonb_build_array(
          jsonb_build_object('day', c.day - 28, 'spent_usd', trim_scale(c.fourth_usd)::text),
          jsonb_build_object('day', c.day - 21, 'spent_usd', trim_scale(c.third_usd)::text),
          jsonb_build_object('day', c.day - 14, 'spent_usd', trim_scale(c.second_usd)::text),
          jsonb_build_object('day', c.day - 7, 'spent_usd', trim_scale(c.first_usd)::text)
        ),
        'period_from', c.day, 'period_until', c.day + 1
      )
    )
    from unusual as c
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
    join public.workspaces as w on w.id = s.workspace_id
    where s.rule = 'unusual_day' and s.period < ((at - interval '5 minutes') at time zone w.time_zone)::date
      -- The new day may be unusual, too.
      and not exists (select from unusual as c where c.workspace_id = s.workspace_id)
    limit 1000
  )
$$;

-- Models that are used in the present month and have no price, and models whose usage is now all priced.
create function private.judge_unpriced_usage(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with unpriced as (
    select w.id as workspace_id, month.first_day, usage.model, usage.line_count
    from public.workspaces as w
    cross join lateral (select date_trunc('month', at at time zone w.time_zone)::date as first_day) as month
    cross join lateral (
      select t.value as model, sum(t.unpriced_count) as line_count
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'model' and t.day >= month.first_day
        and t.unpriced_count > 0
      group by t.value
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
          and t.unpriced_count > 0 and coalesce(t.value, '(no model)') = s.subject_id
      )
    limit 1000
  )
$$;

-- The rules about usage, for all workspaces. They read more, and are judged less often.
create function private.judge_usage_rules(at timestamptz default clock_timestamp())
returns integer
language plpgsql security definer set search_path = ''
as $$
begin
  if not private.lock_alert_rules('usage') then
    return 0;
  end if;
  return private.settle_alert_states((
    select jsonb_agg(verdict)
    from (
      select private.judge_unusual_days(at) as verdict
      union all select private.judge_unpriced_usage(at)
    ) as judged
  ));
end
$$;
grant execute on function private.judge_usage_rules(timestamp with time zone) to outlay_service, service_role;
