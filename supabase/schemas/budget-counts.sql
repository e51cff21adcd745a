-- The spend of each budget in each of its periods.

-- The first day of the period from which a budget counts that begins now; null where it is over before.
create function private.first_counted_day(budget public.budgets)
returns date
language sql stable set search_path = ''
as $$
  select case when budget.period = 'once' then budget.starts_on else private.budget_period(
    budget, greatest(clock_timestamp(), budget.starts_on::timestamp at time zone budget.time_zone)
  ) end
$$;

-- Waits for messages that are being recorded in the workspace, and decides from which period a new budget counts.
create function private.begin_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  -- Later it would be added to the new budget, too, which counts it now.
  perform private.count_waiting_spend(new.workspace_id);
  new.counted_from := private.first_counted_day(new);
  if new.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;

create trigger budgets_begin_to_count before insert on public.budgets for each row
  when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.begin_budget();

-- Adds the waiting postings before a budget changes: the amount left until its next threshold changes too, and a budget that
-- now blocks needs its sums.
create function private.count_before_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.count_waiting_spend(new.workspace_id);
  return new;
end
$$;

-- After changed_budgets_hold_writers: triggers run in the order of their names.
create trigger changed_budgets_take_what_waits
  before update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate, blocks, scope_type, scope_value
  on public.budgets for each row execute function private.count_before_change();

-- What is spent of each budget in each of its periods, counted with every message. A budget has its own days and periods,
-- so its spend cannot be read from sums of UTC days; and whether a message crosses a threshold must be known as it is
-- recorded, without adding up the period again.
create table public.budget_counts (
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
  alert_amount numeric,
  primary key (workspace_id, budget_id, environment, period_from),
  foreign key (workspace_id, budget_id) references public.budgets (workspace_id, id) on delete cascade
) with (fillfactor = 50);
comment on column public.budget_counts.alert_amount is 'The limit, in the budget''s currency, for which alert_at_usd is worked out';

alter table public.budget_counts enable row level security;
revoke all on public.budget_counts from anon, authenticated, service_role;
grant select on public.budget_counts to authenticated, outlay_key, service_role;

create policy "A member reads what is counted of their workspaces' budgets"
  on public.budget_counts for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads what is counted of the budgets that it may read"
  on public.budget_counts for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and budget_id in (select id from public.budgets where budgets.workspace_id = budget_counts.workspace_id)
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
grant execute on function private.hold_budgets(uuid[]) to outlay_service, service_role;

-- Counts what was recorded before a budget was made: days of the workspace that are wholly in its period from the daily totals; what
-- is on other days, and what is booked ahead, from the messages. A day is wholly in the period where it is so in the zone of the
-- workspace and in UTC: what is recorded at midnight UTC is on that day in every zone (see `private.local_time`).
create function private.count_budget(budget public.budgets)
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  begins timestamptz := greatest(budget.counted_from, budget.starts_on)::timestamp at time zone budget.time_zone;
  ends timestamptz := least(private.budget_period_end(budget, budget.counted_from), budget.ends_on + 1)::timestamp
    at time zone budget.time_zone;
  zone text := private.time_zone_of(budget.workspace_id);
  almost_day constant interval := interval '1 day' - interval '1 microsecond';
  first_whole date := greatest((begins at time zone zone) + almost_day, (begins at time zone 'UTC') + almost_day);
  after_whole date := greatest(least((ends at time zone zone)::date, (ends at time zone 'UTC')::date), first_whole);
  -- By how much days of the zone may begin or end at other instants than those of UTC.
  spread constant interval := case when zone = 'UTC' then interval '0' else interval '14 hours' end;
begin
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select budget.workspace_id, budget.id, environment, first_day, sum(amount_usd),
    coalesce(sum(amount_usd) filter (where type in ('subscription', 'expense', 'bill_adjustment')), 0)
  from (
    select environment, budget.counted_from as first_day, type, amount_usd
    from public.daily_totals
    where workspace_id = budget.workspace_id
      -- Each dimension sums to the whole; there are fewest providers.
      and dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
      and day >= first_whole and day < after_whole
      and case budget.scope_type when 'global' then true when 'provider' then lower(value) = lower(budget.scope_value)
        else value = budget.scope_value end
    union all
    select m.environment, private.budget_period(budget, m.occurred_at), m.type, m.amount_usd
    from public.messages as m
    where m.workspace_id = budget.workspace_id
      and (
        m.occurred_at >= begins and m.occurred_at < (first_whole::timestamp + spread) at time zone 'UTC'
        or m.occurred_at >= (after_whole::timestamp - spread) at time zone 'UTC'
      )
      and not (private.local_time(m.occurred_at, zone) >= first_whole and private.local_time(m.occurred_at, zone) < after_whole)
      and private.is_in_budget(budget, m)
  ) as counted
  where first_day is not null
  group by 3, 4
  having sum(amount_usd) <> 0;
end
$$;
