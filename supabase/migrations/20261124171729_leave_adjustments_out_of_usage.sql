-- Forecasts and unusual days leave out adjustments of closed months: they are no usage of the day on which they are booked.

-- The adjustments of closed months, on the day of the workspace on which each is booked. They are part of that day's sums, but what they
-- adjust was used earlier: what asks how much a day usually costs takes them away. `occurred_at` chooses partitions.
create view public.daily_adjustments with (security_invoker = true) as
select m.workspace_id, m.environment, private.local_time(m.occurred_at, w.time_zone)::date as day, m.occurred_at, m.project_id,
  m.api_key_id, m.type, m.provider, m.model, m.feature, m.source, m.end_user, m.tags, m.amount_usd
from public.messages as m
join public.workspaces as w on w.id = m.workspace_id
where m.adjusts is not null;
revoke all on public.daily_adjustments from anon, authenticated, service_role;
grant select on public.daily_adjustments to authenticated, service_role;

-- Any dimension has all spend; there are fewest providers. A provider is compared without regard to case. Adjustments of closed months
-- are no usage of the day on which they are booked.
create or replace view public.budget_usage with (security_invoker = true) as
select workspace_id, budget_id, environment, day, sum(amount_usd) as amount_usd
from (
  select b.workspace_id, b.id as budget_id, usage.environment, usage.day, usage.amount_usd
  from public.budgets as b
  join public.daily_totals as usage
    on usage.workspace_id = b.workspace_id
      and usage.dimension = case b.scope_type when 'global' then 'provider' else b.scope_type end
      and case b.scope_type
        when 'global' then true when 'provider' then lower(usage.value) = b.scope_key else usage.value = b.scope_key
      end
  where usage.type in ('usage', 'batch')
  union all
  select b.workspace_id, b.id, booked.environment, booked.day, -booked.amount_usd
  from public.budgets as b
  join public.daily_adjustments as booked
    on booked.workspace_id = b.workspace_id
      and case b.scope_type
        when 'global' then true
        when 'project' then booked.project_id::text = b.scope_key
        when 'key' then booked.api_key_id::text = b.scope_key
        when 'provider' then lower(booked.provider) = b.scope_key
        when 'model' then booked.model = b.scope_key
        when 'feature' then booked.feature = b.scope_key
        when 'user' then booked.end_user = b.scope_key
        when 'tag' then b.scope_key = any (booked.tags)
      end
  -- Without a closed month, no message is read.
  where booked.type in ('usage', 'batch')
    and exists (select from public.closed_months as closed where closed.workspace_id = b.workspace_id)
) as usage
group by workspace_id, budget_id, environment, day;

create or replace function private.judge_unusual_days(at timestamptz)
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
          and type not in ('subscription', 'expense')
        union all
        select day, -amount_usd
        from public.daily_adjustments
        where workspace_id = w.id and environment = 'live' and occurred_at > at - interval '31 days'
          and exists (select from public.closed_months as closed where closed.workspace_id = w.id)
          and type not in ('subscription', 'expense')
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
