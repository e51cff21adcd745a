-- Budgets: their scope, their periods, their currency.

create table public.budgets (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  scope_type text not null,
  -- The id of the project or key, or the name of the feature or provider; null for the whole workspace.
  scope_value text
    check ((scope_type = 'global') = (scope_value is null)),
  -- USD per month. NaN and infinity are not allowed.
  amount numeric not null
    check (amount > 0)
    constraint budgets_amount_is_money check (amount < 1e15 and scale(amount) <= 18),
  created_at timestamptz not null default now(),
  period text not null default 'month'
    constraint budgets_period_check check (period in ('day', 'week', 'month', 'quarter', 'year', 'once')),
  -- The first day of its weeks: 1 is Monday, 7 is Sunday.
  week_start smallint not null default 1
    constraint budgets_week_start_check check (week_start between 1 and 7),
  -- A name of the time zone database. Its days begin at midnight there.
  time_zone text not null default 'UTC'
    constraint budgets_time_zone_is_short check (char_length(time_zone) between 1 and 64),
  -- What occurs before the first of these days, or after the last, does not count; null: no end.
  starts_on date,
  ends_on date,
  -- Until and with this day of its time zone the limit is `raised_amount`.
  raised_amount numeric
    constraint budgets_raised_amount_is_money
      check (raised_amount > amount and raised_amount < 1e15 and scale(raised_amount) <= 18),
  raised_until date,
  -- An alert is raised when this percentage of the limit, or this amount in USD, is spent.
  alert_percents numeric[] not null default '{50,80,100}',
  alert_amounts numeric[] not null default '{}',
  -- How postings are looked up: providers without case, as for prices.
  scope_key text not null generated always as (
    case when scope_type = 'provider' then lower(scope_value) else coalesce(scope_value, '') end
  ) stored,
  counted_from date not null,
  blocks boolean not null default false,
  currency text not null default 'USD' constraint budgets_currency_is_a_code check (currency ~ '^[A-Z]{3}$'),
  usd_rate numeric not null default 1 constraint budgets_usd_rate_is_a_rate check (usd_rate > 0 and usd_rate < 1000000 and scale(usd_rate) <= 18),
  -- The first day of the period that the rate was stored for; null for USD.
  rated_from date,
  -- Whom it warns: members, and alert channels. Both empty: the channels whose rules want its alerts. Ids of those who have left
  -- or were removed stay and count for nothing.
  warned_people uuid[] not null default '{}',
  warned_channels uuid[] not null default '{}',
  -- A member who may approve requests for more of it, up to this share above the usual limit. The id of one who has left counts
  -- for nothing.
  owner_id uuid,
  owner_percent numeric not null default 50
    constraint budgets_owner_percent_is_a_share check (owner_percent > 0 and owner_percent <= 1000),
  primary key (workspace_id, id),
  constraint budgets_scope_value_is_short check (char_length(scope_value) between 1 and 255),
  constraint budgets_end_after_they_start check (ends_on >= starts_on),
  -- A budget of one period has both ends.
  constraint budgets_of_one_period_have_ends check (period <> 'once' or (starts_on is not null and ends_on is not null)),
  constraint budgets_raises_have_an_end check ((raised_amount is null) = (raised_until is null)),
  constraint budgets_alerts_are_few check (cardinality(alert_percents) + cardinality(alert_amounts) <= 20),
  constraint budgets_alerts_are_positive
    check (0 < all (alert_percents) and 1000 >= all (alert_percents) and 0 < all (alert_amounts) and 1e15 > all (alert_amounts)),
  constraint budgets_scope_type_check
    check (scope_type in ('global', 'project', 'feature', 'provider', 'model', 'key', 'user', 'tag')),
  constraint budgets_in_usd_need_no_rate check (currency <> 'USD' or usd_rate = 1),
  constraint budgets_warn_few check (cardinality(warned_people) <= 20 and cardinality(warned_channels) <= 20)
);
comment on column public.budgets.usd_rate is 'USD for one unit of the currency, in the period that begins on rated_from';

create index budgets_scope_idx on public.budgets (workspace_id, scope_type, scope_key);
-- Every group of messages asks whether its workspaces have such budgets; most have none.
create index budgets_blocking_idx on public.budgets (workspace_id) where blocks;

alter table public.budgets enable row level security;
revoke all on public.budgets from anon, authenticated, service_role;
grant delete, select on public.budgets to authenticated;
grant select on public.budgets to outlay_key;
grant all on public.budgets to service_role;
-- Period, zone and ends cannot change, because the counted spend depends on them.
grant insert (workspace_id, name, scope_type, scope_value, amount, period, week_start, time_zone, starts_on, ends_on, raised_amount, raised_until, alert_percents, alert_amounts, blocks, currency, usd_rate, warned_people, warned_channels, owner_id, owner_percent),
  update (name, amount, raised_amount, raised_until, alert_percents, alert_amounts, blocks, warned_people, warned_channels, owner_id, owner_percent)
  on public.budgets to authenticated;

create policy "A member reads the budgets of their workspaces"
  on public.budgets for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- A key that is limited to some projects sees their budgets and its own. Wider budgets contain spend that it may not see.
create policy "A key reads the budgets whose whole spend it may read"
  on public.budgets for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and case
      when (select private.key_is_unconfined()) then true
      when (select private.key_users()) is not null
        then (select private.key_is_of_users()) and scope_type = 'user' and scope_value = any ((select private.key_users())::text[])
      when scope_type = 'project' then scope_value::uuid in (select private.key_projects())
      when scope_type = 'key' then scope_value = (select private.key_claims() ->> 'id')
      else false
    end
  );

create policy "An admin sets the budgets of their workspaces"
  on public.budgets for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin changes the budgets of their workspaces"
  on public.budgets for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin deletes the budgets of their workspaces"
  on public.budgets for delete to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create trigger budgets_are_audited after insert or delete on public.budgets
  for each row execute function private.audit_change('budget');
create trigger changed_budgets_are_audited after update on public.budgets
  for each row when (old.rated_from is not distinct from new.rated_from) execute function private.audit_change('budget');

-- A budget of a project or key names one of its own workspace by id. Other values would match nothing.
create function private.check_budget_scope()
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
  return new;
end
$$;

create trigger budget_scopes_exist before insert or update of workspace_id, scope_type, scope_value
  on public.budgets for each row execute function private.check_budget_scope();

create trigger budget_time_zones_exist before insert or update of time_zone
  on public.budgets for each row when (new.time_zone <> 'UTC') execute function private.check_time_zone();

-- The rate of a new budget is that of the period in which it is created.
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

create trigger budgets_have_a_rate before insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.rate_new_budget();

-- The number of budgets of a workspace. A key that may not read all of them learns how many are hidden.
create function private.count_budgets(of_workspace uuid)
returns integer
language sql stable security definer set search_path = ''
as $$
  select count(*)::integer from public.budgets where workspace_id = of_workspace
$$;
grant execute on function private.count_budgets(uuid) to outlay_service, service_role;

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
grant execute on function private.budget_period(public.budgets, timestamp with time zone) to authenticated, outlay_key, outlay_service;

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
grant execute on function private.budget_period_end(public.budgets, date) to authenticated, outlay_key, outlay_service;

-- The limit of a budget at an instant, USD.
create function private.budget_limit(budget public.budgets, instant timestamptz)
returns numeric
language sql stable
return case
    when (instant at time zone budget.time_zone)::date <= budget.raised_until then budget.raised_amount
    else budget.amount
  end * budget.usd_rate;
grant execute on function private.budget_limit(public.budgets, timestamp with time zone) to authenticated, outlay_key, outlay_service;

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
grant execute on function private.budget_now(public.budgets) to authenticated, outlay_key, outlay_service;

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
grant execute on function private.rate_budgets(jsonb) to outlay_service, service_role;

-- The limit of a budget at an instant, in the budget's currency.
create function private.budget_amount(budget public.budgets, instant timestamptz)
 returns numeric
 language sql
 stable
return case when (instant at time zone budget.time_zone)::date <= budget.raised_until then budget.raised_amount else budget.amount end;
grant execute on function private.budget_amount(public.budgets, timestamp with time zone) to authenticated, outlay_key, outlay_service;
