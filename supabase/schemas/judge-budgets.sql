-- How the rules about budgets are judged.

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
