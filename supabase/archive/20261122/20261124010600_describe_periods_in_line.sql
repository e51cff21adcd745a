-- Periods of budgets are described by a function that Postgres merges into the statements that use it: called for each budget
-- by itself, it was most of what a group of messages paid for blocking budgets.

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
      select trim_scale(spend.spent_usd) from public.budget_spend as spend
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
revoke execute on function private.budget_periods(public.budgets, timestamptz) from public;

-- The blocking budgets of workspaces, with their present periods. Until the transaction ends, no other transaction loads
-- them to decide about messages: two processes cannot both spend what is left. Which budgets block does not change
-- meanwhile, because the caller holds the workspaces' lock that a change of a blocking budget takes exclusively.
-- returns: [{ id, workspace_id, name, scope_type, scope_key, time_zone, counts_from, counts_until: ms; period }]
create or replace function private.load_blocking_budgets(workspaces uuid[])
returns jsonb
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  now_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.budgets.' || workspace_id, 0))
  from (
    select distinct workspace_id from public.budgets where blocks and workspace_id = any (workspaces) order by workspace_id
  ) as blocking;
  now_at := clock_timestamp();
  -- A statement of its own: it sees what was committed while this one waited.
  return (
    select jsonb_agg(jsonb_build_object(
      'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
      'time_zone', b.time_zone,
      'counts_from', floor(extract(epoch from
        greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'period', present.period
    ) order by b.name, b.id)
    from public.budgets as b
    left join lateral private.budget_periods(b, now_at) as present on true
    where b.blocks and b.workspace_id = any (workspaces)
  );
end
$$;

-- The periods of workspaces' blocking budgets that instants lie in, each once. Called under the lock of
-- load_blocking_budgets.
-- wanted: [{ workspace_id, at: [ms since 1970] }]. returns: periods as budget_periods has them
create or replace function private.load_budget_periods(wanted jsonb)
returns jsonb
language sql security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(found.period), '[]')
  from (
    select distinct present.period
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, at jsonb)
    join public.budgets as b on b.workspace_id = w.workspace_id and b.blocks
    cross join lateral (
      select to_timestamp(value::numeric / 1000) as at from jsonb_array_elements_text(w.at)
    ) as instant
    cross join lateral private.budget_periods(b, instant.at) as present
  ) as found
$$;

-- What a key may learn of its limits whatever its permissions: what it spent, and which blocking budgets its own settings
-- name. Budgets of other scopes may hold it back, too; the refusal names them.
-- returns: { spent_usd: exact text, this UTC month; budgets: as load_blocking_budgets, with a period of now }
create or replace function private.read_key_limits(of_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'spent_usd', coalesce((
      select trim_scale(spend.amount_usd) from public.key_spend as spend
      where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
        and spend.month = date_trunc('month', now() at time zone 'UTC')::date
    ), 0)::text,
    'budgets', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
        'time_zone', b.time_zone,
        'counts_from', floor(extract(epoch from
          greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'period', present.period
      ) order by b.name, b.id)
      from public.budgets as b
      cross join lateral private.budget_periods(b, now()) as present
      where b.workspace_id = k.workspace_id and b.blocks and k.environment = 'live'
        and case b.scope_type
          when 'global' then true
          when 'key' then b.scope_value = k.id::text
          when 'feature' then k.conditions -> 'features' ? b.scope_value
          when 'project' then case
            when k.project_id is not null then b.scope_value = k.project_id::text
            else exists (
              select from public.projects as p
              where p.workspace_id = k.workspace_id and p.id::text = b.scope_value
                and k.conditions -> 'project_slugs' ? p.slug
            )
          end
          else false
        end
    ), '[]')
  )
  from public.api_keys as k
  where k.id = of_key
$$;

drop function private.describe_budget_period(public.budgets, timestamptz);
