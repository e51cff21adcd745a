-- A budget's amounts are in its currency. What counts is spent in USD, so each period has one rate: that of the period's
-- first day. It is stored when the period begins, so that no newer rate moves a limit within a period.
-- Postgres refuses `add column … default` where a function with an SQL body takes a row of the table (15.20 and later minor versions).
alter table public.budgets
  add column currency text constraint budgets_currency_is_a_code check (currency ~ '^[A-Z]{3}$'),
  add column usd_rate numeric constraint budgets_usd_rate_is_a_rate check (usd_rate > 0 and usd_rate < 1000000 and scale(usd_rate) <= 18),
  -- The first day of the period that the rate was stored for; null for USD.
  add column rated_from date;
alter table public.budgets disable trigger user;
update public.budgets set currency = 'USD', usd_rate = 1;
alter table public.budgets enable trigger user;
alter table public.budgets
  alter column currency set default 'USD', alter column currency set not null,
  alter column usd_rate set default 1, alter column usd_rate set not null,
  add constraint budgets_in_usd_need_no_rate check (currency <> 'USD' or usd_rate = 1);
comment on column public.budgets.usd_rate is 'USD for one unit of the currency, in the period that begins on rated_from';
grant insert (currency, usd_rate) on public.budgets to authenticated;

-- The limit of a budget at an instant, USD.
create or replace function private.budget_limit(budget public.budgets, instant timestamptz)
returns numeric
language sql stable
return case
    when (instant at time zone budget.time_zone)::date <= budget.raised_until then budget.raised_amount
    else budget.amount
  end * budget.usd_rate;

create or replace view public.budget_status with (security_invoker = true) as
select b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.period, b.week_start, b.time_zone, b.starts_on, b.ends_on,
  present.first_day as period_from, private.budget_period_end(b, present.first_day) as period_until,
  -- The clock of the budget's time zone.
  now() at time zone b.time_zone as local_time,
  b.amount, private.budget_limit(b, now()) as limit_usd, b.raised_amount, b.raised_until,
  b.alert_percents, b.alert_amounts, environments.environment,
  coalesce(spend.spent_usd, 0) as spent_usd, coalesce(spend.booked_usd, 0) as booked_usd, b.created_at,
  b.blocks, b.currency, b.usd_rate
from public.budgets as b
cross join (values ('live'), ('test')) as environments (environment)
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
left join public.budget_spend as spend
  on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = environments.environment
    and spend.period_from = present.first_day;

-- Budgets in other currencies than USD whose present period has no rate yet.
-- returns: [{ workspace_id, id, currency, period_from }], or null
create function private.list_unrated_budgets()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'id', b.id, 'currency', b.currency, 'period_from', present.first_day
  ))
  from public.budgets as b
  cross join lateral (select private.budget_period(b, clock_timestamp()) as first_day) as present
  where b.currency <> 'USD' and present.first_day is distinct from b.rated_from and present.first_day is not null
$$;
revoke execute on function private.list_unrated_budgets() from public;
grant execute on function private.list_unrated_budgets() to outlay_service, service_role;

-- Stores the rates of periods that have begun, each once. rated: [{ workspace_id, id, period_from, usd_rate }]
create function private.rate_budgets(rated jsonb)
returns void
language sql security definer set search_path = ''
as $$
  update public.budgets as b
  set usd_rate = r.usd_rate, rated_from = r.period_from
  from jsonb_to_recordset(rated) as r (workspace_id uuid, id uuid, period_from date, usd_rate numeric)
  where b.workspace_id = r.workspace_id and b.id = r.id and b.rated_from is distinct from r.period_from
$$;
revoke execute on function private.rate_budgets(jsonb) from public;
grant execute on function private.rate_budgets(jsonb) to outlay_service, service_role;

-- A new budget's rate is of the period in which it is made.
create function private.rate_new_budget()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  if new.currency <> 'USD' then
    new.rated_from := new.counted_from;
  end if;
  return new;
end
$$;
revoke execute on function private.rate_new_budget() from public;
-- After `budgets_begin_to_count`, which knows the period.
create trigger budgets_have_a_rate before insert on public.budgets
  for each row execute function private.rate_new_budget();

-- Rates are stored by the service: no entry of the audit log for each period.
drop trigger budgets_are_audited on public.budgets;
create trigger budgets_are_audited after insert or delete on public.budgets
  for each row execute function private.audit_change('budget');
create trigger changed_budgets_are_audited after update on public.budgets
  for each row when (old.rated_from is not distinct from new.rated_from) execute function private.audit_change('budget');

-- A new rate moves the limit in USD.
drop trigger changed_budgets_alert on public.budgets;
create trigger changed_budgets_alert
  after update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate on public.budgets
  for each row execute function private.alert_on_changed_budget();
