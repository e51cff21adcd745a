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

-- How far a workspace's budgets are from their next thresholds. Each transaction that adds spend locks the row first; otherwise
-- two at once could each miss the spend of the other.
create table private.budget_meters (
  workspace_id uuid primary key references public.workspaces (id) on delete cascade,
  -- At most this may be recorded, USD, until a threshold may be reached.
  left_usd numeric not null,
  -- When that no longer holds: a period or a raise ends.
  valid_until timestamptz not null,
  -- How many groups of postings wait, and how many postings they have.
  waiting_groups integer not null default 0,
  waiting_count integer not null default 0
) with (fillfactor = 50);

alter table private.budget_meters enable row level security;
revoke all on private.budget_meters from anon, authenticated, service_role;

-- Postings that are not yet in budget_counts: those of the first `waiting_groups` places. Postings of other places are counted.
-- Places are reused, so that Postgres has no rows to remove. In a workspace with a blocking budget, no postings wait.
create table private.waiting_spend (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  place integer not null,
  postings private.budget_posting[] not null,
  primary key (workspace_id, place)
  -- With space for a second version of a row beside the first. Compressing them would cost more than the space.
) with (fillfactor = 50, toast_tuple_target = 8160);

alter table private.waiting_spend enable row level security;
revoke all on private.waiting_spend from anon, authenticated, service_role;

-- The waiting postings by budget and period, of the caller's workspaces; the service sees all workspaces.
create function private.waiting_of(workspace uuid)
returns table (budget_id uuid, environment text, period_from date, spent_usd numeric, booked_usd numeric)
language sql stable security definer rows 50 set search_path = ''
as $$
  select b.id, p.environment, period.first_day, sum(p.amount_usd),
    coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense', 'bill_adjustment')), 0)
  from private.budget_meters as m
  join private.waiting_spend as w on w.workspace_id = m.workspace_id and w.place < m.waiting_groups
  cross join unnest(w.postings) as p
  cross join lateral (
    select scope.type, scope.key
    from (values
      ('global', ''), ('project', p.project_id::text), ('key', p.api_key_id::text), ('provider', lower(p.provider)),
      ('model', p.model), ('feature', p.feature), ('user', p.end_user)
    ) as scope (type, key)
    union all
    select distinct 'tag', tag from unnest(p.tags) as tag
  ) as scope
  join public.budgets as b
    on b.workspace_id = w.workspace_id and b.scope_type = scope.type and b.scope_key = scope.key
  cross join lateral (select private.budget_period(b, p.occurred_at) as first_day) as period
  where m.workspace_id = workspace and period.first_day >= b.counted_from
    and (
      current_setting('role') not in ('authenticated', 'anon', 'outlay_key')
      or workspace in (select private.member_workspaces()) or workspace = (select private.key_workspace())
    )
  group by 1, 2, 3
$$;
grant execute on function private.waiting_of(uuid) to authenticated, outlay_key, service_role;

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

-- Any dimension has all spend; there are fewest providers. A provider is compared without regard to case. Adjustments of closed months
-- are no usage of the day on which they are booked.
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

-- Adds what waits in a workspace, and more postings of it, to the budgets that they are in, and raises the alerts of those
-- that reach a threshold by it. The caller has locked the workspace's meter.
create function private.count_spend(workspace uuid, more private.budget_posting[])
returns void
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  waiting private.budget_posting[];
  workspaces uuid[];
  counted uuid[];
begin
  select array_agg(posting) into waiting
  from private.budget_meters as m
  join private.waiting_spend as w on w.workspace_id = m.workspace_id and w.place < m.waiting_groups
  cross join unnest(w.postings) as posting
  where m.workspace_id = workspace;
  waiting := coalesce(waiting, '{}') || more;
  with summed as materialized (
    select p.workspace_id, p.environment, p.at,
      case grouping(p.project_id, p.api_key_id, p.provider, p.model, p.feature, p.end_user)
        when 63 then 'global' when 31 then 'project' when 47 then 'key' when 55 then 'provider' when 59 then 'model'
        when 61 then 'feature' else 'user'
      end as scope_type,
      case grouping(p.project_id, p.api_key_id, p.provider, p.model, p.feature, p.end_user)
        when 63 then '' when 31 then p.project_id::text when 47 then p.api_key_id::text when 55 then p.provider when 59 then p.model
        when 61 then p.feature else p.end_user
      end as scope_key,
      sum(p.amount_usd) as spent_usd,
      coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense', 'bill_adjustment')), 0) as booked_usd
    from (
      select posting.workspace_id, posting.environment, posting.project_id, posting.api_key_id, lower(posting.provider) as provider,
        posting.model, posting.feature, posting.end_user, posting.amount_usd, posting.type,
        date_bin('15 minutes', posting.occurred_at, timestamptz '2000-01-01 00:00:00Z') as at
      from unnest(waiting) as posting
      where posting.amount_usd <> 0
    ) as p
    group by p.workspace_id, p.environment, p.at, grouping sets (
      (), (p.project_id), (p.api_key_id), (p.provider), (p.model), (p.feature), (p.end_user)
    )
    union all
    select p.workspace_id, p.environment, date_bin('15 minutes', p.occurred_at, timestamptz '2000-01-01 00:00:00Z'), 'tag', tag,
      sum(p.amount_usd), coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense', 'bill_adjustment')), 0)
    from unnest(waiting) as p
    cross join lateral unnest(p.tags) as tag
    where p.amount_usd <> 0
    group by 1, 2, 3, 5
  ), counted as materialized (
    select b.workspace_id, b.id, summed.environment, private.budget_period(b, summed.at) as period_from, b.counted_from,
      summed.spent_usd, summed.booked_usd
    from summed
    join public.budgets as b
      on b.workspace_id = summed.workspace_id and b.scope_type = summed.scope_type and b.scope_key = summed.scope_key
  ), added as (
    insert into public.budget_counts as spend (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
    select workspace_id, id, environment, period_from, sum(spent_usd), sum(booked_usd)
    from counted
    where period_from >= counted_from
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (workspace_id, budget_id, environment, period_from) do update
      set spent_usd = spend.spent_usd + excluded.spent_usd, booked_usd = spend.booked_usd + excluded.booked_usd
    returning workspace_id, budget_id, environment, spent_usd >= coalesce(alert_at_usd, 0) as is_due
  )
  select array_agg(distinct workspace_id), array_agg(distinct budget_id) into workspaces, counted
  from added
  where environment = 'live' and is_due;
  update private.budget_meters as m set waiting_groups = 0, waiting_count = 0 where m.workspace_id = workspace;
  if counted is not null then
    perform private.alert_on_budgets(workspaces, counted);
  end if;
end
$$;

-- How much may be recorded in a workspace before a threshold of its budgets may be reached, USD, and until when that holds.
-- With a blocking budget the amount is zero, because every message needs its sums.
create function private.measure_budgets(workspace uuid, out left_usd numeric, out valid_until timestamptz)
language plpgsql security definer set search_path = ''
as $$
declare
  at timestamptz := clock_timestamp();
begin
  if exists (select from public.budgets as b where b.workspace_id = workspace and b.blocks) then
    left_usd := 0;
    valid_until := 'infinity';
    return;
  end if;
  select
    coalesce(min((
      select min(threshold.usd) - coalesce(spend.spent_usd, 0)
      from (
        select private.budget_limit(b, at) * percent / 100 as usd from unnest(b.alert_percents) as percent
        union all
        select usd from unnest(b.alert_amounts) as usd
      ) as threshold
      where threshold.usd > coalesce(spend.spent_usd, 0) and present.first_day is not null
    )), 'infinity'),
    coalesce(min(least(
      private.budget_period_end(b, present.first_day)::timestamp at time zone b.time_zone,
      case when b.raised_until >= present.day then (b.raised_until + 1)::timestamp at time zone b.time_zone end,
      case when b.starts_on > present.day then b.starts_on::timestamp at time zone b.time_zone end
    )), 'infinity')
  into left_usd, valid_until
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as first_day, (at at time zone b.time_zone)::date as day
  ) as present
  left join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.first_day
  where b.workspace_id = workspace;
end
$$;

-- Adds the waiting postings of a workspace to its budgets. The next message measures the distance to their thresholds again.
create function private.count_waiting_spend(workspace uuid)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.budget_meters as m (workspace_id, left_usd, valid_until) values (workspace, 0, '-infinity')
  on conflict (workspace_id) do update set left_usd = 0;
  -- A statement of its own: it sees what was committed while this one waited.
  perform private.count_spend(workspace, '{}');
end
$$;

-- Adds postings of a workspace to the budgets that they are in, at once or, while they can reach no threshold, later.
-- usd: the sum of those that are live and cost something; a lower one is no reason to wait any longer
create function private.add_spend_of(workspace uuid, postings private.budget_posting[], usd numeric)
returns void
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  added constant integer := cardinality(postings);
  meter private.budget_meters;
begin
  update private.budget_meters as m
  set left_usd = m.left_usd - usd, waiting_groups = m.waiting_groups + 1, waiting_count = m.waiting_count + added
  where m.workspace_id = workspace
  returning * into meter;
  if not found then
    return;
  end if;
  -- Whoever reads what is spent adds up what waits: not more than 256 postings.
  if meter.left_usd > 0 and meter.valid_until > clock_timestamp() and meter.waiting_count <= 256 then
    insert into private.waiting_spend as w (workspace_id, place, postings)
    values (workspace, meter.waiting_groups - 1, add_spend_of.postings)
    on conflict (workspace_id, place) do update set postings = excluded.postings;
    return;
  end if;
  update private.budget_meters as m set waiting_groups = m.waiting_groups - 1 where m.workspace_id = workspace;
  perform private.count_spend(workspace, postings);
  if meter.left_usd <= 0 or meter.valid_until <= clock_timestamp() then
    select * into meter.left_usd, meter.valid_until from private.measure_budgets(workspace);
    update private.budget_meters as m set left_usd = meter.left_usd, valid_until = meter.valid_until
    where m.workspace_id = workspace;
  end if;
end
$$;
