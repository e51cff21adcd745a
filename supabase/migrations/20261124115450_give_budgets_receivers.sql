-- Postgres refuses `add column … default` where a function with an SQL body takes a row of the table (15.20 and later minor versions).
alter table public.budgets add column warned_people uuid[], add column warned_channels uuid[];
alter table public.budgets disable trigger user;
update public.budgets set warned_people = '{}', warned_channels = '{}';
alter table public.budgets enable trigger user;
alter table public.budgets
  alter column warned_people set default '{}', alter column warned_people set not null,
  alter column warned_channels set default '{}', alter column warned_channels set not null,
  add constraint budgets_warn_few check (cardinality(warned_people) <= 20 and cardinality(warned_channels) <= 20);
grant insert (warned_people, warned_channels), update (warned_people, warned_channels) on public.budgets to authenticated;

create or replace view public.budget_status with (security_invoker = true) as
select b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.period, b.week_start, b.time_zone, b.starts_on, b.ends_on,
  present.first_day as period_from, private.budget_period_end(b, present.first_day) as period_until,
  -- The clock of the budget's time zone.
  now() at time zone b.time_zone as local_time,
  b.amount, private.budget_limit(b, now()) as limit_usd, b.raised_amount, b.raised_until,
  b.alert_percents, b.alert_amounts, environments.environment,
  coalesce(spend.spent_usd, 0) as spent_usd, coalesce(spend.booked_usd, 0) as booked_usd, b.created_at,
  b.blocks, b.currency, b.usd_rate, b.warned_people, b.warned_channels
from public.budgets as b
cross join (values ('live'), ('test')) as environments (environment)
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
left join public.budget_spend as spend
  on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = environments.environment
    and spend.period_from = present.first_day;
