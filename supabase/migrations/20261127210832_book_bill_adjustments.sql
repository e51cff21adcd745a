-- Adjustments to bills: what was billed and not recorded, or recorded and not billed, booked as costs of their own type. Their messages are
-- part of every sum of spend; the tables say which difference each of them is about, and keep that when old messages are removed.

-- A booking of an admin, with what it came to.
create table public.bill_adjustments (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  month date not null check (extract(day from month) = 1),
  project_id uuid not null,
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  message_count integer not null check (message_count > 0),
  created_by uuid default auth.uid(),
  created_by_email text default auth.email(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  undone_at timestamptz,
  undone_by_email text,
  primary key (workspace_id, id)
);

create index bill_adjustments_month_idx on public.bill_adjustments (workspace_id, month);

alter table public.bill_adjustments enable row level security;
revoke all on public.bill_adjustments from anon, authenticated, service_role;
grant select on public.bill_adjustments to authenticated, outlay_key, service_role;

create policy "A member reads the adjustments of their workspaces"
  on public.bill_adjustments for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Bills are of all projects and people, and so are adjustments to them.
create policy "A key that may read all spend reads adjustments"
  on public.bill_adjustments for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

create trigger bill_adjustments_are_audited
  after insert or update of undone_at on public.bill_adjustments
  for each row execute function private.audit_change('bill_adjustment');

-- The difference that each message of a booking is about: a part of it, of a provider, day (UTC) and model, as the bill names them.
create table public.adjusted_differences (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  message_id uuid not null,
  adjustment_id uuid not null,
  provider text not null check (char_length(provider) between 1 and 64),
  day date not null,
  model text check (char_length(model) between 1 and 200),
  part text not null check (char_length(part) between 1 and 64),
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  -- A message that was voided books nothing any more.
  is_voided boolean not null default false,
  primary key (workspace_id, message_id),
  foreign key (workspace_id, adjustment_id) references public.bill_adjustments (workspace_id, id) on delete cascade
);

create index adjusted_differences_adjustment_idx on public.adjusted_differences (workspace_id, adjustment_id);
create index adjusted_differences_day_idx on public.adjusted_differences (workspace_id, day) where not is_voided;

alter table public.adjusted_differences enable row level security;
revoke all on public.adjusted_differences from anon, authenticated, service_role;
grant select on public.adjusted_differences to authenticated, outlay_key, service_role;

create policy "A member reads the adjusted differences of their workspaces"
  on public.adjusted_differences for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key that may read all spend reads adjusted differences"
  on public.adjusted_differences for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

-- Books differences, as an admin of the workspace: the user of the transaction's claims, which holds `private.lock_bills`. Each is a message
-- on its day; of a closed month, it is booked now and says when it occurred, as what comes later of such a month is.
-- booking: { id, month, project_id, messages: [{ id, occurred_at, provider: as it is recorded, model: as it is recorded, label, part,
--   amount_usd, billed_provider, day, billed_model }] }
create function private.book_bill_adjustment(workspace uuid, booking jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  adjustment constant uuid := booking ->> 'id';
  ids uuid[];
begin
  perform private.require_admin_of(workspace);
  perform private.hold_budgets(array[workspace]);
  insert into public.bill_adjustments (workspace_id, id, month, project_id, amount_usd, message_count)
  select workspace, adjustment, (booking ->> 'month')::date, (booking ->> 'project_id')::uuid, sum(m.amount_usd), count(*)
  from jsonb_to_recordset(booking -> 'messages') as m (amount_usd numeric);
  insert into public.messages
  select booked.*
  from jsonb_to_recordset(booking -> 'messages') as m (
    id uuid, occurred_at timestamptz, provider text, model text, label text, part text, amount_usd numeric
  )
  cross join lateral private.book_open(jsonb_populate_record(null::public.messages, jsonb_build_object(
    'workspace_id', workspace, 'id', m.id, 'part', 0, 'occurred_at', m.occurred_at,
    'created_at', date_trunc('milliseconds', clock_timestamp()), 'project_id', booking ->> 'project_id', 'user_id', auth.uid(),
    'type', 'bill_adjustment', 'source', 'manual', 'environment', 'live', 'provider', m.provider, 'model', m.model,
    'amount_usd', m.amount_usd, 'cost_status', 'client', 'label', m.label,
    'details', jsonb_build_object('part', m.part, 'adjustment', adjustment)
  )), private.closed_until(workspace), private.time_zone_of(workspace)) as booked;
  insert into public.adjusted_differences (workspace_id, message_id, adjustment_id, provider, day, model, part, amount_usd)
  select workspace, m.id, adjustment, m.billed_provider, m.day, m.billed_model, m.part, m.amount_usd
  from jsonb_to_recordset(booking -> 'messages') as m (
    id uuid, billed_provider text, day date, billed_model text, part text, amount_usd numeric
  );
  select array_agg(message_id) into ids
  from public.adjusted_differences where workspace_id = workspace and adjustment_id = adjustment;
  perform private.count_messages(array_fill(workspace, array[cardinality(ids)]), ids);
end
$$;
revoke execute on function private.book_bill_adjustment(uuid, jsonb) from public;
grant execute on function private.book_bill_adjustment(uuid, jsonb) to outlay_service, service_role;

-- Undoes a booking, as an admin of the workspace: the user of the transaction's claims. What was not voided before is voided now.
-- returns: 'undone'; 'unknown'; 'removed' where old messages of it were removed
create function private.undo_bill_adjustment(workspace uuid, adjustment uuid)
returns text
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  ids uuid[];
begin
  perform private.require_admin_of(workspace);
  perform private.lock_bills(workspace);
  perform from public.bill_adjustments as a where a.workspace_id = workspace and a.id = adjustment for update;
  if not found then
    return 'unknown';
  end if;
  select array_agg(d.message_id order by d.message_id) into ids
  from public.adjusted_differences as d
  where d.workspace_id = workspace and d.adjustment_id = adjustment and not d.is_voided;
  if (select count(*) from public.messages as m where m.workspace_id = workspace and m.id = any (ids)) <> coalesce(cardinality(ids), 0) then
    return 'removed';
  end if;
  -- With an action, so that the audit log has one entry for all of them: that of the booking.
  insert into public.message_voids (workspace_id, message_id, reason, action_id)
  select workspace, id, 'The adjustment to the bill was undone', adjustment from unnest(ids) as id;
  update public.bill_adjustments as a
  set undone_at = date_trunc('milliseconds', clock_timestamp()), undone_by_email = auth.email()
  where a.workspace_id = workspace and a.id = adjustment and a.undone_at is null;
  return 'undone';
end
$$;
revoke execute on function private.undo_bill_adjustment(uuid, uuid) from public;
grant execute on function private.undo_bill_adjustment(uuid, uuid) to outlay_service, service_role;

-- Whoever voids a message of a booking takes its difference out of what is adjusted.
create function private.void_adjusted_differences()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  update public.adjusted_differences as d set is_voided = true
  from added as a
  where d.workspace_id = a.workspace_id and d.message_id = a.message_id;
  return null;
end
$$;

revoke execute on function private.void_adjusted_differences() from public;

create trigger voids_undo_adjustments after insert on public.message_voids
  referencing new table as added for each statement execute function private.void_adjusted_differences();

grant execute on function private.lock_bills(uuid) to outlay_service, service_role;

-- A constraint that is not valid yet holds for new rows, and needs no scan of the ledger under its lock. The next migration validates it.
alter table public.messages
  drop constraint messages_type_check,
  add constraint messages_type_check
    check (type in ('usage', 'batch', 'allocation', 'expense', 'subscription', 'bill_adjustment')) not valid;

-- Adjustments are no usage: forecasts and unusual days do not extend them.

-- Counts what was recorded before a budget was made: days of the workspace that are wholly in its period from the daily totals; what
-- is on other days, and what is booked ahead, from the messages. A day is wholly in the period where it is so in the zone of the
-- workspace and in UTC: what is recorded at midnight UTC is on that day in every zone (see `private.local_time`).
create or replace function private.count_budget(budget public.budgets)
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

-- The waiting postings by budget and period, of the caller's workspaces; the service sees all workspaces.
create or replace function private.waiting_of(workspace uuid)
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

-- Adds what waits in a workspace, and more postings of it, to the budgets that they are in, and raises the alerts of those
-- that reach a threshold by it. The caller has locked the workspace's meter.
create or replace function private.count_spend(workspace uuid, more private.budget_posting[])
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

-- A day whose usage is far above the same weekdays of the four weeks before. Subscriptions and expenses are left out: they
-- are booked on days of the month. So are adjustments of closed months, which are booked when they are recorded. A workspace younger than four weeks is not judged. The last minutes of a day are judged
-- after it.
create or replace function private.judge_unusual_days(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with spent as materialized (
    select w.id as workspace_id, w.name, w.time_zone, today.day, coalesce(r.parameter, d.parameter) as least_usd, usage.*
    from public.workspaces as w
    cross join lateral (select ((at - interval '5 minutes') at time zone w.time_zone)::date as day) as today
    join private.alert_rule_defaults() as d on d.rule = 'unusual_day'
    left join public.alert_rules as r on r.workspace_id = w.id and r.rule = 'unusual_day'
    cross join lateral (
      -- One look into the index for the five days.
      select coalesce(sum(t.amount_usd) filter (where t.day = today.day), 0) as spent_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 7), 0) as first_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 14), 0) as second_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 21), 0) as third_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 28), 0) as fourth_usd
      from (
        select day, amount_usd
        from public.daily_totals
        where workspace_id = w.id and environment = 'live' and dimension = 'provider'
          and day = any (array[today.day, today.day - 7, today.day - 14, today.day - 21, today.day - 28])
          and type not in ('subscription', 'expense', 'bill_adjustment')
        union all
        select day, -amount_usd
        from public.daily_adjustments
        where workspace_id = w.id and environment = 'live' and occurred_at > at - interval '31 days'
          and exists (select from public.closed_months as closed where closed.workspace_id = w.id)
          and type not in ('subscription', 'expense', 'bill_adjustment')
      ) as t
    ) as usage
    where coalesce(r.is_on, true)
  ), unusual as materialized (
    select spent.*, usual.*
    from spent
    cross join lateral private.unusual_above(array[first_usd, second_usd, third_usd, fourth_usd], least_usd) as usual
    where spent_usd >= least_usd
      -- Twice the median of four, without sorting: most days end here.
      and spent_usd >= first_usd + second_usd + third_usd + fourth_usd
        - greatest(first_usd, second_usd, third_usd, fourth_usd) - least(first_usd, second_usd, third_usd, fourth_usd)
      and spent_usd >= usual.above_usd
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = spent.workspace_id and s.rule = 'unusual_day' and s.period = spent.day
      )
      and exists (
        select from public.daily_totals as t
        where t.workspace_id = spent.workspace_id and t.environment = 'live' and t.dimension = 'provider'
          and t.day <= spent.day - 28
      )
  )
  (
    select jsonb_build_object(
      'workspace_id', c.workspace_id, 'rule', 'unusual_day', 'subject_type', 'workspace', 'subject_id', c.workspace_id,
      'period', c.day, 'state', 'warning',
      'details', jsonb_build_object(
        'subject', c.name, 'day', c.day, 'time_zone', c.time_zone, 'spent_usd', trim_scale(c.spent_usd)::text,
        'median_usd', trim_scale(c.median_usd)::text, 'mad_usd', trim_scale(c.mad_usd)::text,
        'above_usd', trim_scale(c.above_usd)::text,
        'compared', jsonb_build_array(
          jsonb_build_object('day', c.day - 28, 'spent_usd', trim_scale(c.fourth_usd)::text),
          jsonb_build_object('day', c.day - 21, 'spent_usd', trim_scale(c.third_usd)::text),
          jsonb_build_object('day', c.day - 14, 'spent_usd', trim_scale(c.second_usd)::text),
          jsonb_build_object('day', c.day - 7, 'spent_usd', trim_scale(c.first_usd)::text)
        ),
        'period_from', c.day, 'period_until', c.day + 1
      )
    )
    from unusual as c
    limit 1000
  )
  union all
  (
    -- A day passes by itself.
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'forget'
    )
    from public.alert_states as s
    join public.workspaces as w on w.id = s.workspace_id
    where s.rule = 'unusual_day' and s.period < ((at - interval '5 minutes') at time zone w.time_zone)::date
      -- The new day may be unusual, too.
      and not exists (select from unusual as c where c.workspace_id = s.workspace_id)
    limit 1000
  )
$$;
