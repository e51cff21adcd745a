-- A budget has a period of its own, in a time zone of its own.
alter table public.budgets
  add column period text not null default 'month'
    constraint budgets_period_check check (period in ('day', 'week', 'month', 'quarter', 'year', 'once')),
  -- The first day of its weeks: 1 is Monday, 7 is Sunday.
  add column week_start smallint not null default 1
    constraint budgets_week_start_check check (week_start between 1 and 7),
  -- A name of the time zone database. Its days begin at midnight there.
  add column time_zone text not null default 'UTC'
    constraint budgets_time_zone_is_short check (char_length(time_zone) between 1 and 64),
  -- What occurs before the first of these days, or after the last, does not count; null: no end.
  add column starts_on date,
  add column ends_on date,
  add constraint budgets_end_after_they_start check (ends_on >= starts_on),
  -- A budget of one period has both ends.
  add constraint budgets_of_one_period_have_ends check (period <> 'once' or (starts_on is not null and ends_on is not null)),
  -- Until and with this day of its time zone the limit is `raised_amount`.
  add column raised_amount numeric
    constraint budgets_raised_amount_is_money
      check (raised_amount > amount and raised_amount < 1e15 and scale(raised_amount) <= 18),
  add column raised_until date,
  add constraint budgets_raises_have_an_end check ((raised_amount is null) = (raised_until is null)),
  -- An alert is raised when this percentage of the limit, or this amount in USD, is spent.
  add column alert_percents numeric[] not null default '{50,80,100}',
  add column alert_amounts numeric[] not null default '{}',
  add constraint budgets_alerts_are_few check (cardinality(alert_percents) + cardinality(alert_amounts) <= 20),
  add constraint budgets_alerts_are_positive
    check (0 < all (alert_percents) and 1000 >= all (alert_percents) and 0 < all (alert_amounts) and 1e15 > all (alert_amounts)),
  -- How postings are looked up: providers without case, as for prices.
  add column scope_key text not null generated always as (
    case when scope_type = 'provider' then lower(scope_value) else coalesce(scope_value, '') end
  ) stored,
  drop constraint budgets_scope_type_check,
  add constraint budgets_scope_type_check
    check (scope_type in ('global', 'project', 'feature', 'provider', 'model', 'key', 'user', 'tag'));

create index budgets_scope_idx on public.budgets (workspace_id, scope_type, scope_key);

grant insert (
  period, week_start, time_zone, starts_on, ends_on, raised_amount, raised_until, alert_percents, alert_amounts
) on public.budgets to authenticated;
-- Period, zone and ends stay: what was counted depends on them.
grant update (raised_amount, raised_until, alert_percents, alert_amounts) on public.budgets to authenticated;

-- The names in a budget's functions are bound when they are created, so they need no search path of their own, and Postgres
-- merges them into the statements that call them.

-- The first day of the period that an instant lies in; null where the budget does not count it.
create function private.budget_period(budget public.budgets, instant timestamptz)
returns date
language sql stable
return case
    when (instant at time zone budget.time_zone)::date < budget.starts_on
      or (instant at time zone budget.time_zone)::date > budget.ends_on then null
    when budget.period = 'once' then budget.starts_on
    when budget.period = 'week' then (instant at time zone budget.time_zone)::date
      - (extract(isodow from instant at time zone budget.time_zone)::integer - budget.week_start + 7) % 7
    else date_trunc(budget.period, instant at time zone budget.time_zone)::date
  end;

-- The day after the last of the period that begins on a day.
create function private.budget_period_end(budget public.budgets, first_day date)
returns date
language sql stable
return case budget.period
    when 'once' then budget.ends_on + 1
    when 'day' then first_day + 1
    when 'week' then first_day + 7
    else (first_day + case budget.period
      when 'month' then interval '1 month' when 'quarter' then interval '3 months' else interval '1 year'
    end)::date
  end;

-- The limit of a budget at an instant, USD.
create function private.budget_limit(budget public.budgets, instant timestamptz)
returns numeric
language sql stable
return case
    when (instant at time zone budget.time_zone)::date <= budget.raised_until then budget.raised_amount
    else budget.amount
  end;

-- The instant whose period a budget shows: now, while it is not before its start or after its end.
create function private.budget_now(budget public.budgets)
returns timestamptz
language sql stable
begin atomic
  select greatest(
    budget.starts_on::timestamp at time zone budget.time_zone,
    least(now(), (budget.ends_on + 1)::timestamp at time zone budget.time_zone - interval '1 microsecond')
  );
end;

revoke execute on function private.budget_now(public.budgets), private.budget_period(public.budgets, timestamptz),
  private.budget_period_end(public.budgets, date), private.budget_limit(public.budgets, timestamptz) from public;
grant execute on function private.budget_now(public.budgets), private.budget_period(public.budgets, timestamptz),
  private.budget_period_end(public.budgets, date), private.budget_limit(public.budgets, timestamptz)
  to authenticated, outlay_key, outlay_service;

-- A budget of a project or key names one of its own workspace by id. Other values would match nothing. A time zone that
-- Postgres does not know would make every message fail.
create or replace function private.check_budget_scope()
returns trigger
language plpgsql stable security definer set search_path = ''
as $$
begin
  if new.scope_type = 'project' and not exists (
    select from public.projects where workspace_id = new.workspace_id and id::text = new.scope_value
  ) or new.scope_type = 'key' and not exists (
    select from public.api_keys where workspace_id = new.workspace_id and id::text = new.scope_value
  ) then
    raise exception 'the workspace has no % %', new.scope_type, new.scope_value using errcode = 'foreign_key_violation';
  end if;
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;
drop trigger budget_scopes_exist on public.budgets;
create trigger budget_scopes_exist before insert or update of workspace_id, scope_type, scope_value, time_zone
  on public.budgets for each row execute function private.check_budget_scope();
