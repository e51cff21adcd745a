-- How postings are added to the budgets that they are in, and how far budgets are from their thresholds.

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
