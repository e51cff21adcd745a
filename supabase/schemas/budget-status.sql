-- What is spent of each budget, as pages and jobs read it.

-- The spend of each budget in each of its periods, including waiting postings.
create view public.budget_spend with (security_invoker = true) as
select workspace_id, budget_id, environment, period_from, sum(spent_usd) as spent_usd, sum(booked_usd) as booked_usd
from (
  select workspace_id, budget_id, environment, period_from, spent_usd, booked_usd from public.budget_counts
  union all
  select of.workspace_id, waiting.budget_id, waiting.environment, waiting.period_from, waiting.spent_usd, waiting.booked_usd
  from (select distinct workspace_id from public.budgets) as of
  cross join lateral private.waiting_of(of.workspace_id) as waiting
  -- A caller may see only some of them.
  join public.budgets as b on b.workspace_id = of.workspace_id and b.id = waiting.budget_id
) as spend
group by 1, 2, 3, 4;
revoke all on public.budget_spend from anon, authenticated, service_role;
grant select on public.budget_spend to authenticated, outlay_key, service_role;

-- Each budget with what is spent of it in its present period, in each environment. Read with the caller's own rights.
create view public.budget_status with (security_invoker = true) as
select b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.period, b.week_start, b.time_zone, b.starts_on, b.ends_on,
  present.first_day as period_from, private.budget_period_end(b, present.first_day) as period_until,
  -- The clock of the budget's time zone.
  now() at time zone b.time_zone as local_time,
  b.amount, private.budget_limit(b, now()) as limit_usd, b.raised_amount, b.raised_until,
  b.alert_percents, b.alert_amounts, environments.environment,
  coalesce(spend.spent_usd, 0) as spent_usd, coalesce(spend.booked_usd, 0) as booked_usd, b.created_at,
  b.blocks, b.currency, b.usd_rate, b.warned_people, b.warned_channels, b.owner_id, b.owner_percent
from public.budgets as b
cross join (values ('live'), ('test')) as environments (environment)
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
left join public.budget_spend as spend
  on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = environments.environment
    and spend.period_from = present.first_day;
revoke all on public.budget_status from anon, authenticated, service_role;
grant select on public.budget_status to authenticated, outlay_key, service_role;

-- The period of a budget that an instant lies in, with its limit and its live spend, as a decision about a message needs
-- them; no row for an instant that the budget does not count. The limit is the one of now, or of the period's first or last
-- moment where that is over or still to come. Without a security context of its own, so that Postgres merges it into the
-- statements that use it.
-- period: { budget_id, from, until: days; starts_at, ends_at: ms since 1970; limit_usd, spent_usd: exact text }
create function private.budget_periods(budget public.budgets, instant timestamptz)
returns table (period jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'budget_id', budget.id, 'from', days.first_day, 'until', days.next_day,
    'starts_at', floor(extract(epoch from instants.starts_at) * 1000)::bigint,
    'ends_at', floor(extract(epoch from instants.ends_at) * 1000)::bigint,
    'limit_usd', trim_scale(private.budget_limit(
      budget, greatest(instants.starts_at, least(now(), instants.ends_at - interval '1 microsecond'))
    ))::text,
    'spent_usd', coalesce((
      select trim_scale(spend.spent_usd) from public.budget_counts as spend
      where spend.workspace_id = budget.workspace_id and spend.budget_id = budget.id and spend.environment = 'live'
        and spend.period_from = days.first_day
    ), 0)::text
  )
  from (select private.budget_period(budget, instant) as first_day offset 0) as first
  cross join lateral (
    select first.first_day, private.budget_period_end(budget, first.first_day) as next_day
  ) as days
  cross join lateral (
    select days.first_day::timestamp at time zone budget.time_zone as starts_at,
      days.next_day::timestamp at time zone budget.time_zone as ends_at
  ) as instants
  where days.first_day >= budget.counted_from;
end;

-- Each dimension sums to all spend; the one by provider has the fewest rows. A provider is compared without regard to case. Adjustments
-- of closed months are no usage of the day on which they are booked.
create view public.budget_usage with (security_invoker = true) as
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
revoke all on public.budget_usage from anon, authenticated, service_role;
grant select on public.budget_usage to authenticated, service_role;

-- The live usage of some budgets of any workspace on some days, for the job that judges them.
--
-- returns: [{ id, day, amount }], the amount as exact text
create function private.usage_of_budgets(budgets uuid[], days date[])
 returns jsonb
 language sql
 stable
 security definer
 set search_path to ''
as $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', budget_id, 'day', to_char(day, 'YYYY-MM-DD'), 'amount', trim_scale(amount_usd)::text
  )), '[]')
  from public.budget_usage
  where environment = 'live' and budget_id = any (budgets) and day = any (days)
$function$;
grant execute on function private.usage_of_budgets(uuid[], date[]) to outlay_service, service_role;
