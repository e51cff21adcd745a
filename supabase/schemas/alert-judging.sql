-- How the rules are judged.

-- The rules about keys and sources. Each function returns what has changed since it was judged the last time, at most 1,000
-- verdicts, as private.settle_alert_states takes them. The alerts of a key end when it is revoked or deleted.
create function private.judge_key_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with month as (
    select date_trunc('month', at, 'UTC')::timestamptz as begins, (date_trunc('month', at at time zone 'UTC'))::date as first_day
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, month.first_day, lim.usd as limit_usd,
      coalesce(spent.amount_usd, 0) as spent_usd, refused.usd as refused_usd, k.on_limit,
      case
        -- It refuses what would exceed it, so it need not be reached.
        when refused.usd > 0 and coalesce(spent.amount_usd, 0) + refused.usd >= lim.usd then 'alert'
        when lim.usd is null or coalesce(spent.amount_usd, 0) * 100 < lim.usd * rule.percent then 'ok'
        when coalesce(spent.amount_usd, 0) >= lim.usd then 'alert'
        else 'warning'
      end as state,
      s.state as old_state, s.period as old_period
    from month
    cross join public.api_keys as k
    cross join lateral (select private.key_limit(k.monthly_limit, k.raised_limit, k.raised_until, at) as usd) as lim
    left join public.key_spend as spent
      on spent.workspace_id = k.workspace_id and spent.api_key_id = k.id and spent.month = month.first_day
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_limit' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_limit'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_limit'
    cross join lateral (select coalesce(r.parameter, d.parameter) as percent) as rule
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd from public.refused_spend as f
      where f.workspace_id = k.workspace_id and f.api_key_id = k.id and f.budget_id is null and f.period_from = month.first_day
    ) as refused
    where (k.monthly_limit > 0 or s.state is not null)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > at)
      and coalesce(r.is_on, true)
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_limit', 'subject_type', 'key', 'subject_id', subject_id,
    'period', first_day, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'amount_usd', trim_scale(limit_usd)::text, 'spent_usd', trim_scale(spent_usd)::text,
      'percent', trim_scale(round(spent_usd * 100 / nullif(limit_usd, 0), 2))::text,
      'refused_usd', trim_scale(refused_usd)::text, 'on_limit', on_limit,
      'period_from', first_day, 'period_until', (first_day + interval '1 month')::date
    )
  )
  from judged
  where (state, first_day) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, first_day))
  limit 1000
$$;

-- A key warns before it expires, and alerts when it has expired, if that was within a day. Forgotten after 30 days.
create function private.judge_key_expiries(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, k.expires_at, s.state as old_state, s.period as old_period,
      coalesce((k.expires_at at time zone 'UTC')::date, s.period) as period,
      case
        when k.expires_at is null or k.expires_at > at + rule.days * interval '1 day' then 'ok'
        when k.expires_at > at then 'warning'
        when k.expires_at > at - interval '1 day' or s.state is not null and k.expires_at > at - interval '30 days' then 'alert'
        when s.state is not null then 'forget'
        else 'ok'
      end as state
    from public.api_keys as k
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_expiry' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_expiry'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_expiry'
    cross join lateral (select coalesce(r.parameter, d.parameter) as days) as rule
    where k.kind = 'key' and k.revoked_at is null and coalesce(r.is_on, true)
      -- The longest notice that can be set is 365 days.
      and (s.state is not null or k.expires_at between at - interval '1 day' and at + interval '366 days')
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_expiry', 'subject_type', 'key', 'subject_id', subject_id,
    -- Where it is over, that is no new period.
    'period', case when state = 'ok' then coalesce(old_period, period) else period end, 'state', state,
    'details', jsonb_build_object(
      'subject', name,
      'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok') or state in ('warning', 'alert') and period is distinct from old_period
  limit 1000
$$;

-- A source is silent if it sent for at least as long as it may be silent, and stopped within the last week.
create function private.judge_silent_sources(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with sources as (
    select a.workspace_id, a.api_key_id, min(a.first_at) as first_at, max(a.last_at) as arrived_at
    from public.source_arrivals as a
    group by a.workspace_id, a.api_key_id
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, seen.last_at, rule.hours::integer as hours, s.state as old_state,
      coalesce(s.period, (seen.last_at at time zone 'UTC')::date) as period,
      case
        when seen.last_at >= at - rule.hours * interval '1 hour' then 'ok'
        when s.state is not null then 'warning'
        when seen.last_at >= at - rule.hours * interval '1 hour' - interval '7 days'
          and seen.last_at - sources.first_at >= rule.hours * interval '1 hour' then 'warning'
        else 'ok'
      end as state
    from sources
    join public.api_keys as k on k.workspace_id = sources.workspace_id and k.id = sources.api_key_id
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'silent_source' and s.subject_id = k.id::text
    cross join lateral (
      -- A request that was refused shows that the source is alive.
      select greatest(sources.arrived_at, (
        select max(r.last_at) from public.source_refusals as r
        where r.workspace_id = k.workspace_id and r.api_key_id = k.id and not r.of_record
      )) as last_at
    ) as seen
    join private.alert_rule_defaults() as d on d.rule = 'silent_source'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'silent_source'
    cross join lateral (select coalesce(r.parameter, d.parameter) as hours) as rule
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at) and coalesce(r.is_on, true)
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'silent_source', 'subject_type', 'source', 'subject_id', subject_id,
    'period', period, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'hours', hours,
      'last_at', to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok')
  limit 1000
$$;

-- Budgets of which a provider holds another limit, or refuses theirs, since the day on which that was found.
create function private.judge_provider_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with worst as (
    select distinct on (l.workspace_id, l.budget_id) l.*, l.state in ('drift', 'refused', 'gone') as is_wrong
    from public.provider_limits as l
    where l.budget_id is not null and not l.is_removing
    order by l.workspace_id, l.budget_id, is_wrong desc, l.read_at desc nulls last, l.id
  )
  (
    select jsonb_build_object(
      'workspace_id', b.workspace_id, 'rule', 'provider_limit', 'subject_type', 'budget', 'subject_id', b.id,
      'period', coalesce(s.period, (at at time zone 'UTC')::date), 'state', case when worst.is_wrong then 'warning' else 'ok' end,
      'details', jsonb_build_object(
        'subject', b.name, 'provider', worst.provider, 'target', worst.target_name, 'limit_state', worst.state,
        'problem', worst.problem, 'written_usd', trim_scale(worst.written_usd)::text, 'held_usd', trim_scale(worst.held_usd)::text
      )
    )
    from worst
    join public.budgets as b on b.workspace_id = worst.workspace_id and b.id = worst.budget_id
    left join public.alert_states as s
      on s.workspace_id = b.workspace_id and s.rule = 'provider_limit' and s.subject_id = b.id::text
    left join public.alert_rules as r on r.workspace_id = b.workspace_id and r.rule = 'provider_limit'
    where coalesce(r.is_on, true) and worst.is_wrong <> (s.state is not null)
    limit 1000
  )
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
    )
    from public.alert_states as s
    where s.rule = 'provider_limit'
      and not exists (select from worst where worst.workspace_id = s.workspace_id and worst.budget_id::text = s.subject_id)
    limit 1000
  )
$$;

-- Budgets and keys whose limits refused costs of at least the rule's amount in their present period.
create function private.judge_refused_costs(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with subjects as (
    select b.workspace_id, 'budget' as subject_type, b.id::text as subject_id, b.name, present.first_day as period,
      private.budget_period_end(b, present.first_day) as period_until, refused.usd, refused.messages
    from public.budgets as b
    cross join lateral (select private.budget_period(b, at) as first_day) as present
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd, coalesce(sum(f.message_count), 0) as messages from public.refused_spend as f
      where f.workspace_id = b.workspace_id and f.budget_id = b.id and f.period_from = present.first_day
    ) as refused
    where b.blocks or exists (
      select from public.alert_states as s
      where s.workspace_id = b.workspace_id and s.rule = 'refused_costs' and s.subject_id = b.id::text
    )
    union all
    select k.workspace_id, 'key', k.id::text, k.name, month.first_day, (month.first_day + interval '1 month')::date, refused.usd,
      refused.messages
    from (select (date_trunc('month', at at time zone 'UTC'))::date as first_day) as month
    cross join public.api_keys as k
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd, coalesce(sum(f.message_count), 0) as messages from public.refused_spend as f
      where f.workspace_id = k.workspace_id and f.api_key_id = k.id and f.budget_id is null and f.period_from = month.first_day
    ) as refused
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at)
      and (k.monthly_limit is not null or exists (
        select from public.alert_states as s
        where s.workspace_id = k.workspace_id and s.rule = 'refused_costs' and s.subject_id = k.id::text
      ))
  ), judged as (
    select u.*, s.state as old_state, s.period as old_period,
      case when u.messages > 0 and u.usd >= rule.usd then 'warning' else 'ok' end as state
    from subjects as u
    left join public.alert_states as s
      on s.workspace_id = u.workspace_id and s.rule = 'refused_costs' and s.subject_id = u.subject_id
    join private.alert_rule_defaults() as d on d.rule = 'refused_costs'
    left join public.alert_rules as r on r.workspace_id = u.workspace_id and r.rule = 'refused_costs'
    cross join lateral (select coalesce(r.parameter, d.parameter) as usd) as rule
    where coalesce(r.is_on, true)
  )
  (
    select jsonb_build_object(
      'workspace_id', workspace_id, 'rule', 'refused_costs', 'subject_type', subject_type, 'subject_id', subject_id, 'period', period,
      'state', state,
      'details', jsonb_build_object(
        'subject', name, 'refused_usd', trim_scale(usd)::text, 'message_count', messages, 'period_from', period,
        'period_until', period_until
      )
    )
    from judged
    where (state, period) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, period))
    limit 1000
  )
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
    )
    from public.alert_states as s
    where s.rule = 'refused_costs' and s.subject_type = 'budget' and not exists (
      select from public.budgets as b where b.workspace_id = s.workspace_id and b.id::text = s.subject_id
    )
    limit 1000
  )
$$;

-- The states of keys that no longer exist.
create function private.judge_gone_keys(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )
  from public.alert_states as s
  where (s.rule in ('key_limit', 'key_expiry', 'silent_source') or s.rule = 'refused_costs' and s.subject_type = 'key')
    and not exists (
      select from public.api_keys as k
      where k.workspace_id = s.workspace_id and k.id::text = s.subject_id and k.revoked_at is null
        and (s.rule = 'key_expiry' or k.expires_at is null or k.expires_at > at)
    )
  limit 1000
$$;

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

-- The spend in a budget's scope between two moments, from its daily totals. A day that is partly within counts in
-- proportion to its hours.
create function private.estimate_budget_spend(budget public.budgets, begins timestamptz, ends timestamptz)
returns numeric
language sql stable security definer set search_path = ''
as $$
  select coalesce(sum(
    t.amount_usd * extract(epoch from (
      least((t.day + 1)::timestamp at time zone zone, ends) - greatest(t.day::timestamp at time zone zone, begins)
    ))::numeric / extract(epoch from (t.day + 1)::timestamp at time zone zone - t.day::timestamp at time zone zone)::numeric
  ), 0)
  from (select private.time_zone_of(budget.workspace_id) as zone) as of
  cross join public.daily_totals as t
  where t.workspace_id = budget.workspace_id and t.environment = 'live'
    -- Each dimension sums to the whole; there are fewest providers.
    and t.dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
    and t.day >= (begins at time zone zone)::date and t.day::timestamp at time zone zone < ends
    and case budget.scope_type when 'global' then true when 'provider' then lower(t.value) = lower(budget.scope_value)
      else t.value = budget.scope_value end
$$;

-- Returns the budgets to judge, and records that they are being judged.
-- returns: [{ workspace_id, id, name, scope_type, scope_value, period, period_from, period_until, time_zone, local_ms,
--   limit_usd, spent_usd, booked_usd, before_usd, forecast_percent, pace_percent, known }]. `before_usd`: at the same point of
--   the last period, null where there was none; the percentages are null where a rule is off; `known`: the period of its state by rule
create function private.budgets_to_judge(at timestamptz, at_most integer)
returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  answer jsonb;
begin
  with due as materialized (
    select b as budget, present.period_from, present.limit_usd, coalesce(spend.spent_usd, 0) as spent_usd,
      coalesce(spend.booked_usd, 0) as booked_usd, at at time zone b.time_zone as local_time
    from public.budgets as b
    cross join lateral (
      select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
    ) as present
    left join public.budget_spend as spend
      on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
        and spend.period_from = present.period_from
    left join private.budget_checks as c on c.workspace_id = b.workspace_id and c.budget_id = b.id
    where c.checked_at is null or c.checked_at < at - interval '1 hour'
      or (c.period_from, c.spent_usd, c.limit_usd)
        is distinct from (present.period_from, coalesce(spend.spent_usd, 0), present.limit_usd)
    order by c.checked_at nulls first
    limit at_most
  ), noted as (
    insert into private.budget_checks as c (workspace_id, budget_id, period_from, spent_usd, limit_usd, checked_at)
    select (budget).workspace_id, (budget).id, period_from, spent_usd, limit_usd, at from due
    on conflict (workspace_id, budget_id) do update
    set period_from = excluded.period_from, spent_usd = excluded.spent_usd, limit_usd = excluded.limit_usd,
      checked_at = excluded.checked_at
  )
  select jsonb_agg(jsonb_build_object(
    'workspace_id', (budget).workspace_id, 'id', (budget).id, 'name', (budget).name, 'scope_type', (budget).scope_type,
    'scope_value', (budget).scope_value, 'period', (budget).period, 'period_from', due.period_from,
    'period_until', private.budget_period_end(budget, due.period_from), 'time_zone', (budget).time_zone,
    'local_ms', (extract(epoch from due.local_time) * 1000)::bigint::text,
    'limit_usd', trim_scale(due.limit_usd)::text, 'spent_usd', trim_scale(due.spent_usd)::text,
    'booked_usd', trim_scale(due.booked_usd)::text,
    'before_usd', case when rule.pace_percent is not null and due.spent_usd > 0 and last.period_from is not null then
      trim_scale(round(private.estimate_budget_spend(
        budget, last.period_from::timestamp at time zone (budget).time_zone,
        -- The end of the last period, where it is shorter.
        least(last.period_from + (due.local_time - due.period_from::timestamp), due.period_from::timestamp) at time zone (budget).time_zone
      ), 18))::text
    end,
    'forecast_percent', rule.forecast_percent::text, 'pace_percent', rule.pace_percent::text,
    'known', (
      select coalesce(jsonb_object_agg(s.rule, s.period), '{}') from public.alert_states as s
      where s.workspace_id = (budget).workspace_id and s.subject_id = (budget).id::text
        and s.rule in ('budget_forecast', 'budget_pace')
    )
  ))
  into answer
  from due
  cross join lateral (
    select private.alert_rule_parameter((budget).workspace_id, 'budget_forecast') as forecast_percent,
      private.alert_rule_parameter((budget).workspace_id, 'budget_pace') as pace_percent
  ) as rule
  cross join lateral (
    select case when (budget).period <> 'once' then private.budget_period(
      budget, due.period_from::timestamp at time zone (budget).time_zone - interval '1 microsecond'
    ) end as period_from
  ) as last;
  return coalesce(answer, '[]');
end
$$;
grant execute on function private.budgets_to_judge(timestamp with time zone, integer) to outlay_service, service_role;

-- The states of budgets that were deleted. returns: verdicts, as private.settle_alert_states takes them
create function private.judge_gone_budgets()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )), '[]')
  from public.alert_states as s
  where s.rule in ('budget_forecast', 'budget_pace')
    and not exists (
      select from public.budgets as b where b.workspace_id = s.workspace_id and b.id::text = s.subject_id
    )
$$;
grant execute on function private.judge_gone_budgets() to outlay_service, service_role;

-- Judges the rules about keys and sources, for all workspaces. Does nothing while another process judges them.
-- at: the moment to judge at; another one than the present in tests. returns: how many alerts were to be raised
create function private.judge_key_rules(at timestamptz default clock_timestamp())
returns integer
language plpgsql security definer set search_path = ''
as $$
begin
  if not private.lock_alert_rules('keys') then
    return 0;
  end if;
  return private.settle_alert_states((
    select jsonb_agg(verdict)
    from (
      select private.judge_gone_keys(at) as verdict
      union all select private.judge_key_limits(at)
      union all select private.judge_key_expiries(at)
      union all select private.judge_silent_sources(at)
      union all select private.judge_provider_limits(at)
      union all select private.judge_refused_costs(at)
    ) as judged
  ));
end
$$;
grant execute on function private.judge_key_rules(timestamp with time zone) to outlay_service, service_role;

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
