-- What is spent of each budget in each of its periods, counted with every message. A budget has its own days and periods,
-- so its spend cannot be read from sums of UTC days; and whether a message crosses a threshold must be known as it is
-- recorded, without adding up the period again.
create table public.budget_spend (
  workspace_id uuid not null,
  budget_id uuid not null,
  environment text not null,
  -- The first day of the period, in the budget's time zone.
  period_from date not null,
  spent_usd numeric not null,
  -- The part of `spent_usd` from subscriptions and expenses.
  booked_usd numeric not null,
  -- Spend below this reaches no threshold that was not looked at; null: look.
  alert_at_usd numeric,
  primary key (workspace_id, budget_id, environment, period_from),
  foreign key (workspace_id, budget_id) references public.budgets (workspace_id, id) on delete cascade
);
-- Counted up with every message: room on the page keeps its updates out of the index.
alter table public.budget_spend set (fillfactor = 50);

alter table public.budget_spend enable row level security;
revoke all on public.budget_spend from anon, authenticated, service_role;
grant select on public.budget_spend to authenticated, outlay_key, service_role;

create policy "A member reads what is spent of their workspaces' budgets"
  on public.budget_spend for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads what is spent of the budgets that it may read"
  on public.budget_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and budget_id in (select id from public.budgets where budgets.workspace_id = budget_spend.workspace_id)
  );

-- The period from which on a budget counts: the one it was made in. Earlier ones would have a part of their spend only.
alter table public.budgets add column counted_from date;

-- A change of what a posting costs, as budgets see it.
create type private.budget_posting as (
  workspace_id uuid, environment text, occurred_at timestamptz, type text, amount_usd numeric,
  project_id uuid, api_key_id uuid, provider text, model text, feature text, end_user text, tags text[]
);

-- Whether a posting is in the scope of a budget.
create function private.is_in_budget(budget public.budgets, posting public.messages)
returns boolean
language sql immutable
return case budget.scope_type
    when 'global' then true
    when 'project' then posting.project_id::text = budget.scope_value
    when 'key' then posting.api_key_id::text = budget.scope_value
    when 'provider' then lower(posting.provider) = lower(budget.scope_value)
    when 'model' then posting.model = budget.scope_value
    when 'feature' then posting.feature = budget.scope_value
    when 'user' then posting.end_user = budget.scope_value
    when 'tag' then budget.scope_value = any (posting.tags)
  end;
revoke execute on function private.is_in_budget(public.budgets, public.messages) from public;

-- Keeps a new budget of these workspaces waiting until the transaction ends, and this transaction until a new budget is
-- counted: a posting is counted either as it is recorded or as its budget is made. Groups of calls take the same lock when
-- they are admitted (`load_admission`).
create function private.hold_budgets(workspaces uuid[])
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace, 0))
  from (select distinct workspace from unnest(workspaces) as workspace order by workspace) as writing;
end
$$;
revoke execute on function private.hold_budgets(uuid[]) from public;
grant execute on function private.hold_budgets(uuid[]) to outlay_service, service_role;

-- Waits until what is being recorded in the workspace is there, and decides from which period on a new budget counts.
create function private.begin_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  new.counted_from := case when new.period = 'once' then new.starts_on else private.budget_period(
    new, greatest(clock_timestamp(), new.starts_on::timestamp at time zone new.time_zone)
  ) end;
  if new.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;
revoke execute on function private.begin_budget() from public;
-- Triggers run in the order of their names: after `budget_scopes_exist`, which checks the time zone.
create trigger budgets_begin_to_count before insert on public.budgets
  for each row execute function private.begin_budget();

-- Counts what was recorded before a budget was made: whole UTC days of its period from the daily totals; the hours before
-- and after them, and what is booked ahead, from the messages.
create function private.count_budget(budget public.budgets)
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  begins timestamptz := greatest(budget.counted_from, budget.starts_on)::timestamp at time zone budget.time_zone;
  ends timestamptz := least(private.budget_period_end(budget, budget.counted_from), budget.ends_on + 1)::timestamp
    at time zone budget.time_zone;
  first_whole timestamptz := date_trunc('day', begins + interval '1 day' - interval '1 microsecond', 'UTC');
  after_whole timestamptz := greatest(date_trunc('day', ends, 'UTC'), first_whole);
begin
  insert into public.budget_spend (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select budget.workspace_id, budget.id, environment, first_day, sum(amount_usd),
    coalesce(sum(amount_usd) filter (where type in ('subscription', 'expense')), 0)
  from (
    select environment, budget.counted_from as first_day, type, amount_usd
    from public.daily_totals
    where workspace_id = budget.workspace_id
      -- Each dimension sums to the whole; there are fewest providers.
      and dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
      and day >= (first_whole at time zone 'UTC')::date and day < (after_whole at time zone 'UTC')::date
      and case budget.scope_type when 'global' then true when 'provider' then lower(value) = lower(budget.scope_value)
        else value = budget.scope_value end
    union all
    select m.environment, private.budget_period(budget, m.occurred_at), m.type, m.amount_usd
    from public.messages as m
    where m.workspace_id = budget.workspace_id
      and (m.occurred_at >= begins and m.occurred_at < first_whole or m.occurred_at >= after_whole)
      and private.is_in_budget(budget, m)
  ) as counted
  where first_day is not null
  group by 3, 4
  having sum(amount_usd) <> 0;
end
$$;
revoke execute on function private.count_budget(public.budgets) from public;

-- Each budget with what is spent of it in its present period, in each environment. Read with the caller's own rights.
create view public.budget_status with (security_invoker = true) as
select b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.period, b.week_start, b.time_zone, b.starts_on, b.ends_on,
  present.first_day as period_from, private.budget_period_end(b, present.first_day) as period_until,
  -- The clock of the budget's time zone.
  now() at time zone b.time_zone as local_time,
  b.amount, private.budget_limit(b, now()) as limit_usd, b.raised_amount, b.raised_until,
  b.alert_percents, b.alert_amounts, environments.environment,
  coalesce(spend.spent_usd, 0) as spent_usd, coalesce(spend.booked_usd, 0) as booked_usd, b.created_at
from public.budgets as b
cross join (values ('live'), ('test')) as environments (environment)
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
left join public.budget_spend as spend
  on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = environments.environment
    and spend.period_from = present.first_day;
revoke all on public.budget_status from anon, authenticated, service_role;
grant select on public.budget_status to authenticated, outlay_key, service_role;
