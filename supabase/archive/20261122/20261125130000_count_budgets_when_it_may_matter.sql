-- Spend waits until it may matter. Each group of messages added itself to about thirty sums of budgets. Now a meter for each
-- workspace says how much may be recorded before any threshold can be reached; until then postings wait, and are added to the
-- sums together. The group that may reach a threshold adds what waits and itself, in its own transaction.

alter table public.budget_spend rename to budget_counts;
alter table public.budget_counts rename constraint budget_spend_pkey to budget_counts_pkey;
alter table public.budget_counts
  rename constraint budget_spend_workspace_id_budget_id_fkey to budget_counts_workspace_id_budget_id_fkey;
alter policy "A key reads what is spent of the budgets that it may read" on public.budget_counts
  rename to "A key reads what is counted of the budgets that it may read";
alter policy "A member reads what is spent of their workspaces' budgets" on public.budget_counts
  rename to "A member reads what is counted of their workspaces' budgets";

-- How far a workspace's budgets are from their next thresholds. Whoever adds spend locks the row first, so that two at once
-- cannot each see too little.
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

-- Postings that are not yet in budget_counts: those of the first `waiting_groups` places; what the others have is counted.
-- Places are used again, so that Postgres has no rows to remove. Nothing waits in a workspace of which a budget blocks.
create table private.waiting_spend (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  place integer not null,
  postings private.budget_posting[] not null,
  primary key (workspace_id, place)
-- With space for a second version of a row beside the first. Compressing them would cost more than the space.
) with (fillfactor = 50, toast_tuple_target = 8160);
alter table private.waiting_spend enable row level security;

insert into private.budget_meters (workspace_id, left_usd, valid_until)
select distinct workspace_id, 0, timestamptz '-infinity' from public.budgets;

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
      coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0) as booked_usd
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
      sum(p.amount_usd), coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0)
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
revoke execute on function private.count_spend(uuid, private.budget_posting[]) from public;

-- How much may be recorded in a workspace before a threshold of its budgets may be reached, USD, and until when that holds.
-- Nothing where a budget blocks: its sums are needed with every message.
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
revoke execute on function private.measure_budgets(uuid) from public;

-- Adds what waits in a workspace to its budgets, and measures them anew with the next message.
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
revoke execute on function private.count_waiting_spend(uuid) from public;

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
revoke execute on function private.add_spend_of(uuid, private.budget_posting[], numeric) from public;

-- Adds postings to the budgets that they are in. Nearly every group is of one workspace.
create or replace function private.add_budget_spend(postings private.budget_posting[])
returns void
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  first constant uuid := (postings[1]).workspace_id;
  usd numeric;
begin
  select case when bool_and(p.workspace_id = first) then
    coalesce(sum(p.amount_usd) filter (where p.amount_usd > 0 and p.environment = 'live'), 0)
  end into usd
  from unnest(postings) as p;
  if usd is not null then
    perform private.add_spend_of(first, postings, usd);
  else
    perform private.add_spend_of(
      part.workspace_id, part.postings,
      (select coalesce(sum(p.amount_usd), 0) from unnest(part.postings) as p where p.amount_usd > 0 and p.environment = 'live')
    )
    from (
      select p.workspace_id, array_agg(p) as postings from unnest(postings) as p group by 1 order by 1
    ) as part;
  end if;
end
$$;

-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period: what was raised before
-- is not raised again, also after a correction lowered the spend.
--
-- A caller that has just counted postings holds the meter of the workspace, so that two at once cannot each see too little.
-- is_quiet: recorded only, and told to nobody.
-- returns: how many were raised
create or replace function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  raised jsonb;
  -- One instant, which Postgres can merge into the statement with the functions that use it.
  at timestamptz := clock_timestamp();
begin
  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'rule', 'budget_threshold', 'subject_type', 'budget', 'subject_id', b.id,
    'period', spend.period_from, 'level', threshold.level, 'is_quiet', alert_on_budgets.is_quiet,
    'details', jsonb_strip_nulls(jsonb_build_object(
      'budget', b.name, 'scope_type', b.scope_type, 'scope_value', b.scope_value, 'percent', coalesce(threshold.percent, trim_scale(round(threshold.usd * 100 / present.limit_usd, 2)))::text,
      'threshold_usd', trim_scale(threshold.usd)::text, 'amount_usd', trim_scale(present.limit_usd)::text,
      'spent_usd', trim_scale(spend.spent_usd)::text, 'period_from', spend.period_from,
      'period_until', private.budget_period_end(b, spend.period_from), 'time_zone', b.time_zone
    ))
  ) order by b.workspace_id, b.id, threshold.usd)
  into raised
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
  ) as present
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.period_from
  cross join lateral (
    select trim_scale(percent)::text as level, trim_scale(percent) as percent, present.limit_usd * percent / 100 as usd
    from unnest(b.alert_percents) as percent
    union all
    select '$' || trim_scale(usd), null, usd from unnest(b.alert_amounts) as usd
  ) as threshold
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.spent_usd >= threshold.usd
    -- A value rather than a join, so that the few that are asked for are looked up by the index.
    and (
      select a.id from public.alerts as a
      where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
        and a.period = spend.period_from and a.level = threshold.level
    ) is null;
  if raised is not null then
    perform private.raise_alerts(raised);
  end if;
  update public.budget_counts as spend
  set alert_at_usd = private.next_threshold(b, spend.spent_usd, at)
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at)
    and spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at);
  return coalesce(jsonb_array_length(raised), 0);
end
$$;

-- What waits is added before a budget changes: what is left until its next threshold changes with it, and a budget that
-- blocks from now on needs its sums.
create function private.count_before_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.count_waiting_spend(new.workspace_id);
  return new;
end
$$;
revoke execute on function private.count_before_change() from public;
-- After changed_budgets_hold_writers: triggers run in the order of their names.
create trigger changed_budgets_take_what_waits
  before update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate, blocks, scope_type, scope_value
  on public.budgets for each row execute function private.count_before_change();

-- A lower limit or a new threshold may be reached by what is spent already. What is being recorded meanwhile is counted
-- first, or sees the new limit: changed_budgets_take_what_waits holds the meter.
create or replace function private.alert_on_changed_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id]);
  return null;
end
$$;

-- Waits until what is being recorded in the workspace is there, and decides from which period on a new budget counts.
create or replace function private.begin_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  -- Later it would be added to the new budget, too, which counts it now.
  perform private.count_waiting_spend(new.workspace_id);
  new.counted_from := case when new.period = 'once' then new.starts_on else private.budget_period(
    new, greatest(clock_timestamp(), new.starts_on::timestamp at time zone new.time_zone)
  ) end;
  if new.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;

-- Counts what was recorded before a budget was made: whole UTC days of its period from the daily totals; the hours before
-- and after them, and what is booked ahead, from the messages.
create or replace function private.count_budget(budget public.budgets)
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
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
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

-- Raises what time alone makes true: a period begins with spend that was booked ahead, or a raise ends.
-- returns: how many alerts were raised
create or replace function private.alert_on_due_budgets()
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  raised integer;
begin
  perform private.count_waiting_spend(m.workspace_id)
  from (
    select workspace_id from private.budget_meters
    where valid_until <= clock_timestamp() and waiting_groups > 0 order by workspace_id
  ) as m;
  select private.alert_on_budgets(array_agg(distinct b.workspace_id), array_agg(b.id)) into raised
  from public.budgets as b
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, clock_timestamp());
  return raised;
end
$$;

-- What waits in a workspace, by budget and period, for the caller's workspaces; for the service, any.
create function private.waiting_of(workspace uuid)
returns table (budget_id uuid, environment text, period_from date, spent_usd numeric, booked_usd numeric)
language sql stable security definer rows 50 set search_path = ''
as $$
  select b.id, p.environment, period.first_day, sum(p.amount_usd),
    coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0)
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
revoke execute on function private.waiting_of(uuid) from public;
grant execute on function private.waiting_of(uuid) to authenticated, outlay_key, service_role;

-- What is spent of each budget in each of its periods: what is counted, and what waits.
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

-- Goes on with the oldest erasure that no process is working on, by one step. First a day of postings with all their sums, at
-- most as many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person.
-- Sums of messages that were removed change as they are.
--
-- returns: how many postings and answers it changed; null where there is nothing to do
create or replace function private.erase_some(at_most integer)
returns integer
language plpgsql security definer set search_path = ''
 set "TimeZone" to 'UTC'
as $$
declare
  job public.erasures;
  first_day date;
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  select * into job from public.erasures where status <> 'done' order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and m.occurred_at >= first_day and m.occurred_at < first_day + 1
      limit at_most
      for update
    ), renamed as (
      update public.messages as m set end_user = job.pseudonym
      from found
      where m.workspace_id = job.workspace_id and m.id = found.id and m.part = found.part
        and m.occurred_at = found.occurred_at
      returning m.*
    ), sums as (
      select project_id, api_key_id, type, provider, model, feature, source, environment, tags,
        sum(amount_usd) as amount_usd, count(*) as posting_count,
        coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
        sum(private.sign_of(voids)) as item_count,
        coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
        coalesce(sum(list_price_usd), 0) as included_usd
      from renamed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
    select array_agg(row(
        job.workspace_id, first_day, project_id, api_key_id, type, provider, model, feature, source, environment,
        side * amount_usd, side * message_count, side * item_count, side * unpriced_count,
        case side when 1 then job.pseudonym else job.end_user end, tags, side * included_usd
      )::public.daily_spend),
      coalesce(sum(posting_count) filter (where side = 1), 0)
    into changes, changed
    from sums cross join (values (1), (-1)) as sides (side);
    if changed = 0 then
      select array_agg(row(
          d.workspace_id, d.day, d.project_id, d.api_key_id, d.type, d.provider, d.model, d.feature, d.source, d.environment,
          side * d.amount_usd, side * d.message_count, side * d.item_count, side * d.unpriced_count,
          case side when 1 then job.pseudonym else job.end_user end, d.tags, side * d.included_usd
        )::public.daily_spend)
      into changes
      from public.daily_spend as d cross join (values (1), (-1)) as sides (side)
      where d.workspace_id = job.workspace_id and d.end_user = job.end_user and d.day = first_day;
    end if;
    perform private.add_daily_spend(changes);
    perform private.count_waiting_spend(job.workspace_id);
    delete from private.waiting_spend where workspace_id = job.workspace_id;
    -- Sums of nothing may stand for messages and their voids, which are to be found by them: they go after the last posting.
    if changed < at_most then
      delete from public.daily_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.daily_totals
      where workspace_id = job.workspace_id and dimension = 'user' and value = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;
    end if;
    update public.erasures set status = 'running', changed_count = changed_count + changed
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  with next as materialized (
    select key, environment from private.idempotency
    where workspace_id = job.workspace_id
      and (job.cursor_key is null or (key, environment) > (job.cursor_key, job.cursor_environment))
    order by key, environment
    limit at_most * 10
  ), forgotten as (
    update private.idempotency as i set request = private.without_person(i.request, job.end_user)
    from next
    where i.workspace_id = job.workspace_id and i.key = next.key and i.environment = next.environment
      and i.request is distinct from private.without_person(i.request, job.end_user)
    returning 1
  )
  select count(*), (array_agg(key order by key desc, environment desc))[1],
    (array_agg(environment order by key desc, environment desc))[1], (select count(*) from forgotten)
  into seen, last_key, last_environment, changed
  from next;
  if seen > 0 then
    update public.erasures
    set status = 'running', cursor_key = last_key, cursor_environment = last_environment
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  update public.budgets
  set scope_value = job.pseudonym, name = case when name = left(job.end_user, 120) then job.pseudonym else name end
  where workspace_id = job.workspace_id and scope_type = 'user' and scope_value = job.end_user;
  -- A condition without its name would allow every user; with the pseudonym it allows nobody in the place of the person.
  update public.api_keys
  set conditions = jsonb_set(conditions, '{users}', (
    select jsonb_agg(case when name = job.end_user then job.pseudonym else name end order by place)
    from jsonb_array_elements_text(conditions -> 'users') with ordinality as users (name, place)
  ))
  where workspace_id = job.workspace_id and conditions -> 'users' ? job.end_user;

  old_json := to_jsonb(job.end_user)::text;
  new_json := to_jsonb(job.pseudonym)::text;
  delete from public.refused_exports
  where workspace_id = job.workspace_id and position(old_json in records::text) > 0;
  update public.alerts set details = replace(details::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and position(old_json in details::text) > 0;
  update public.source_refusals set example = null
  where workspace_id = job.workspace_id and position(old_json in example::text) > 0;
  -- The only change of the audit log there is: what was changed, when and by whom stays.
  update public.audit_log
  set before = replace(before::text, old_json, new_json)::jsonb, after = replace(after::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and (subject like 'budget %' or subject like 'api\_key %')
    and (position(old_json in before::text) > 0 or position(old_json in after::text) > 0);

  update public.erasures
  set status = 'done', end_user = null, cursor_key = null, cursor_environment = null, finished_at = now()
  where workspace_id = job.workspace_id and id = job.id;
  return 0;
end
$$;
