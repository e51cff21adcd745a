-- What a budget would show if it were set now.

-- Inserts a budget without its alerts and counts what its present period has spent, so that it can be read like any other. Only
-- for a caller who rolls it back. Unlike a real budget, it does not keep messages waiting.
-- draft: the columns of the budget
-- returns: { id; spent_usd, booked_usd: exact text, as counted;
--   days: [{ day, spent_usd }], the spend of the present period until the end of each day that has any, the last of them
--     today or before; null where no threshold is reached;
--   yesterday: { day, cost_count, refused_count }, null where it does not block or did not count that day }
create function private.draft_budget(workspace uuid, draft jsonb)
returns jsonb
language plpgsql security definer set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  b public.budgets := jsonb_populate_record(null::public.budgets, draft);
  counted public.budget_counts;
  first_day date;
  days jsonb;
begin
  perform private.require_admin_of(workspace);
  b.workspace_id := workspace;
  b.id := gen_random_uuid();
  b.created_at := now();
  b.counted_from := private.first_counted_day(b);
  if b.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  b.rated_from := case when b.currency <> 'USD' then b.counted_from end;
  perform set_config('outlay.is_restoring', 'on', true);
  insert into public.budgets (
    workspace_id, id, name, scope_type, scope_value, amount, created_at, period, week_start, time_zone, starts_on, ends_on,
    raised_amount, raised_until, alert_percents, alert_amounts, counted_from, blocks, currency, usd_rate, rated_from,
    warned_people, warned_channels, owner_id, owner_percent
  ) values (
    b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.amount, b.created_at, b.period, b.week_start, b.time_zone,
    b.starts_on, b.ends_on, b.raised_amount, b.raised_until, b.alert_percents, b.alert_amounts, b.counted_from, b.blocks,
    b.currency, b.usd_rate, b.rated_from, b.warned_people, b.warned_channels,
    b.owner_id, coalesce(b.owner_percent, 50)
  ) returning * into b;
  perform set_config('outlay.is_restoring', '', true);
  perform private.count_budget(b);

  first_day := private.budget_period(b, private.budget_now(b));
  select c.* into counted from public.budget_counts as c
  where c.workspace_id = workspace and c.budget_id = b.id and c.environment = 'live' and c.period_from = first_day;
  if private.next_threshold(b, 0, now()) <= counted.spent_usd then
    days := private.spend_by_day(b, first_day, counted.spent_usd);
  end if;
  return jsonb_build_object(
    'id', b.id, 'spent_usd', coalesce(trim_scale(counted.spent_usd), 0)::text,
    'booked_usd', coalesce(trim_scale(counted.booked_usd), 0)::text, 'days', days,
    'yesterday', case when b.blocks then private.refusals_of_yesterday(b, first_day, coalesce(counted.spent_usd, 0)) end
  );
end
$$;
grant execute on function private.draft_budget(uuid, jsonb) to outlay_service, service_role;

-- The live spend of a period of a budget until the end of each of its days. What is booked ahead counts today, because it is
-- recorded; rows that were removed since count before the first day.
-- spent_usd: the spend of the whole period. returns: [{ day, spent_usd }]
create function private.spend_by_day(budget public.budgets, first_day date, spent_usd numeric)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  with days as (
    select least((m.occurred_at at time zone budget.time_zone)::date, (now() at time zone budget.time_zone)::date) as day,
      sum(m.amount_usd) as usd
    from public.messages as m
    where m.workspace_id = budget.workspace_id and m.environment = 'live'
      and m.occurred_at >= greatest(first_day, budget.starts_on)::timestamp at time zone budget.time_zone
      and m.occurred_at < least(private.budget_period_end(budget, first_day), budget.ends_on + 1)::timestamp at time zone budget.time_zone
      and private.is_in_budget(budget, m)
    group by 1
  ), removed as (
    select spend_by_day.spent_usd - coalesce(sum(usd), 0) as usd from days
  )
  select jsonb_agg(jsonb_build_object('day', course.day, 'spent_usd', trim_scale(course.usd)::text) order by course.day)
  from (
    select days.day, removed.usd + sum(days.usd) over (order by days.day) as usd from days cross join removed
  ) as course
$$;

-- How many of yesterday's costs a budget would have refused, had it been set when yesterday began in its time zone: as
-- `BudgetBook` decides. What is refused adds nothing, so a smaller cost may be recorded after a refused one. Voided costs and
-- what no key recorded are not counted. Both figures are of calls: the lines of a batch are one.
-- first_day, spent_usd: the present period and what is spent in it. returns: { day, cost_count, refused_count }
create function private.refusals_of_yesterday(budget public.budgets, first_day date, spent_usd numeric)
returns jsonb
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  zone constant text := budget.time_zone;
  day constant date := (now() at time zone zone)::date - 1;
  begins constant timestamptz := day::timestamp at time zone zone;
  ends constant timestamptz := (day + 1)::timestamp at time zone zone;
  period_from constant date := private.budget_period(budget, begins);
  limit_usd constant numeric := private.budget_limit(budget, now());
  used numeric;
  cost record;
  cost_count integer := 0;
  refused_count integer := 0;
begin
  if period_from is null then
    return null;
  end if;
  -- Of the present period, what is left of the whole when the rows since are taken away: rows before may have been removed.
  select case when period_from = first_day then spent_usd - coalesce(sum(m.amount_usd) filter (where m.occurred_at >= begins), 0)
    else coalesce(sum(m.amount_usd) filter (where m.occurred_at < begins), 0) end
  into used
  from public.messages as m
  where m.workspace_id = budget.workspace_id and m.environment = 'live' and private.is_in_budget(budget, m)
    and m.occurred_at >= case when period_from = first_day then begins
      else greatest(period_from, budget.starts_on)::timestamp at time zone zone end
    and m.occurred_at < case when period_from = first_day
      then least(private.budget_period_end(budget, first_day), budget.ends_on + 1)::timestamp at time zone zone else begins end;
  for cost in
    select sum(m.amount_usd) as usd, bool_or(m.cost_status = 'unpriced') as is_unpriced, bool_and(m.api_key_id is not null) as is_call
    from public.messages as m
    where m.workspace_id = budget.workspace_id and m.environment = 'live' and private.is_in_budget(budget, m)
      and m.occurred_at >= begins and m.occurred_at < ends and m.voids is null and m.voided_by is null
    group by m.id
    order by min(m.occurred_at), min(m.created_at), m.id
  loop
    if cost.is_call then
      cost_count := cost_count + 1;
      if cost.usd > 0 and used + cost.usd > limit_usd or cost.usd = 0 and cost.is_unpriced and used >= limit_usd then
        refused_count := refused_count + 1;
        continue;
      end if;
    end if;
    used := used + cost.usd;
  end loop;
  return jsonb_build_object('day', day, 'cost_count', cost_count, 'refused_count', refused_count);
end
$$;
