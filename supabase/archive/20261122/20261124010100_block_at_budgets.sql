-- A budget warns, or it also blocks: what would take it past its limit is refused before it is recorded.
-- Postgres refuses `add column … default` where a function with an SQL body takes a row of the table (15.20 and later minor versions).
alter table public.budgets add column blocks boolean;
alter table public.budgets disable trigger user;
update public.budgets set blocks = false;
alter table public.budgets enable trigger user;
alter table public.budgets alter column blocks set default false, alter column blocks set not null;
grant insert (blocks), update (blocks) on public.budgets to authenticated;

-- Every group of messages asks whether its workspaces have such budgets; most have none.
create index budgets_blocking_idx on public.budgets (workspace_id) where blocks;

-- A period of a budget with its limit and its live spend, as a decision about a message needs it; null for an instant that
-- the budget does not count. The limit is the one of now, or of the period's first or last moment where that is over or
-- still to come.
-- returns: { budget_id, from, until: days; starts_at, ends_at: ms since 1970; limit_usd, spent_usd: exact text }
create function private.describe_budget_period(budget public.budgets, instant timestamptz)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'budget_id', budget.id, 'from', first_day, 'until', next_day,
    'starts_at', floor(extract(epoch from starts_at) * 1000)::bigint,
    'ends_at', floor(extract(epoch from ends_at) * 1000)::bigint,
    'limit_usd', trim_scale(private.budget_limit(
      budget, greatest(starts_at, least(clock_timestamp(), ends_at - interval '1 microsecond'))
    ))::text,
    'spent_usd', coalesce((
      select trim_scale(spend.spent_usd) from public.budget_spend as spend
      where spend.workspace_id = budget.workspace_id and spend.budget_id = budget.id and spend.environment = 'live'
        and spend.period_from = first_day
    ), 0)::text
  )
  from (
    select first_day, next_day, first_day::timestamp at time zone budget.time_zone as starts_at,
      next_day::timestamp at time zone budget.time_zone as ends_at
    from (
      select first_day, private.budget_period_end(budget, first_day) as next_day
      from private.budget_period(budget, instant) as first_day
      where first_day >= budget.counted_from
    ) as days
  ) as period
$$;
revoke execute on function private.describe_budget_period(public.budgets, timestamptz) from public;

-- The blocking budgets of workspaces, with their present periods. Until the transaction ends, no other transaction loads
-- them to decide about messages: two processes cannot both spend what is left. Which budgets block does not change
-- meanwhile, because the caller holds the workspaces' lock that a change of a blocking budget takes exclusively.
-- returns: [{ id, workspace_id, name, scope_type, scope_key, time_zone, counts_from, counts_until: ms; period }]
create function private.load_blocking_budgets(workspaces uuid[])
returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.budgets.' || workspace_id, 0))
  from (
    select distinct workspace_id from public.budgets where blocks and workspace_id = any (workspaces) order by workspace_id
  ) as blocking;
  -- A statement of its own: it sees what was committed while this one waited.
  return (
    select jsonb_agg(jsonb_build_object(
      'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
      'time_zone', b.time_zone,
      'counts_from', floor(extract(epoch from
        greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'period', private.describe_budget_period(b, clock_timestamp())
    ) order by b.name, b.id)
    from public.budgets as b
    where b.blocks and b.workspace_id = any (workspaces)
  );
end
$$;
revoke execute on function private.load_blocking_budgets(uuid[]) from public;

-- The periods of workspaces' blocking budgets that instants lie in, each once. Called under the lock of
-- load_blocking_budgets.
-- wanted: [{ workspace_id, at: [ms since 1970] }]. returns: periods as describe_budget_period has them
create function private.load_budget_periods(wanted jsonb)
returns jsonb
language sql security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(private.describe_budget_period(found.budget, found.at)), '[]')
  from (
    select distinct on (b.workspace_id, b.id, private.budget_period(b, instant.at)) b as budget, instant.at
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, at jsonb)
    join public.budgets as b on b.workspace_id = w.workspace_id and b.blocks
    cross join lateral (
      select to_timestamp(value::numeric / 1000) as at from jsonb_array_elements_text(w.at)
    ) as instant
    where private.budget_period(b, instant.at) >= b.counted_from
  ) as found
$$;
revoke execute on function private.load_budget_periods(jsonb) from public;
grant execute on function private.load_budget_periods(jsonb) to outlay_service, service_role;

-- A change of a blocking budget waits until what was decided on its old limit is recorded.
create function private.hold_writers_of_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  return new;
end
$$;
revoke execute on function private.hold_writers_of_budget() from public;
create trigger changed_budgets_hold_writers before update on public.budgets
  for each row when (new.blocks) execute function private.hold_writers_of_budget();
