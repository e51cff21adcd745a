-- Budgets that block, and what limits a key.

-- A change of a blocking budget waits until messages that were admitted under its old limit are recorded.
create function private.hold_writers_of_budget()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  return new;
end
$$;

create trigger changed_budgets_hold_writers before update on public.budgets
  for each row when (new.blocks) execute function private.hold_writers_of_budget();

-- The blocking budgets of workspaces, with their present periods. Until the transaction ends, no other transaction loads
-- them to decide about messages: two processes cannot both spend what is left. Which budgets block does not change
-- meanwhile, because the caller holds the workspaces' lock that a change of a blocking budget takes exclusively.
-- returns: [{ id, workspace_id, name, scope_type, scope_key, time_zone, counts_from, counts_until: ms; period }]
create function private.load_blocking_budgets(workspaces uuid[])
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
create function private.load_budget_periods(wanted jsonb)
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
grant execute on function private.load_budget_periods(jsonb) to outlay_service, service_role;

-- What every key may learn of its limits, whatever its permissions: its spend, and the blocking budgets that its own settings
-- name. Budgets of other scopes may also block it; the refusal names them.
-- returns: { spent_usd, refused_usd: exact text, this UTC month; refused_usd: by its monthly limit; held_usd: by its reservations;
-- held: [{ id, usd }], what is held of budgets of its workspace; budgets: as load_blocking_budgets, with a period of now }
create function private.read_key_limits(of_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'spent_usd', coalesce((
      select trim_scale(spend.amount_usd) from public.key_spend as spend
      where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
        and spend.month = date_trunc('month', now() at time zone 'UTC')::date
    ), 0)::text,
    'held_usd', coalesce((
      select trim_scale(sum(r.amount_usd)) from private.held_reservations(array[k.workspace_id], clock_timestamp()) as r
      where r.api_key_id = k.id
    ), 0)::text,
    'held', coalesce((
      select jsonb_agg(jsonb_build_object('id', h.budget_id, 'usd', h.usd::text))
      from private.held_of_budgets(array[k.workspace_id], clock_timestamp()) as h
    ), '[]'),
    'refused_usd', coalesce((
      select trim_scale(sum(s.amount_usd)) from public.refused_spend as s
      where s.workspace_id = k.workspace_id and s.api_key_id = k.id and s.budget_id is null
        and s.period_from = date_trunc('month', now() at time zone 'UTC')::date
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
grant execute on function private.read_key_limits(uuid) to outlay_service, service_role;

-- Locks what decisions about a workspace's blocking budgets lock, before anything is counted, so that no two transactions
-- wait for each other and both cannot spend what is left.
create function private.hold_blocking_budgets(workspace uuid)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace, 0));
  perform pg_advisory_xact_lock(hashtextextended('outlay.budgets.' || workspace, 0))
  where exists (select from public.budgets as b where b.blocks and b.workspace_id = workspace);
end
$$;
grant execute on function private.hold_blocking_budgets(uuid) to outlay_service, service_role;

-- What live messages, voids among them, change of each budget that they are in, by the period's first day. `at` is in the period.
create function private.budget_changes(workspace uuid, added uuid[])
returns table (budget_id uuid, first_day date, at timestamptz, usd numeric)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select b.id, period.first_day, min(m.occurred_at), sum(m.amount_usd)
    from public.messages as m
    join public.budgets as b on b.workspace_id = m.workspace_id and private.is_in_budget(b, m)
    cross join lateral (select private.budget_period(b, m.occurred_at) as first_day) as period
    where m.workspace_id = workspace and m.id = any (added) and m.environment = 'live' and period.first_day >= b.counted_from
    group by 1, 2
    having sum(m.amount_usd) <> 0;
end
$$;

-- The blocking budget that voids and corrections took past its limit; of several the one that resets last. Null if
-- there is none: a correction that does not raise a budget's spend is within every limit. Called under hold_blocking_budgets,
-- after they were counted.
-- added: the ids of the voids and of what replaced the voided messages
-- returns: { budget: as load_blocking_budgets has it, with the period; added_usd: exact text }
create function private.exceeded_budget(workspace uuid, added uuid[])
returns jsonb
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select jsonb_build_object(
      'budget', jsonb_build_object(
        'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
        'time_zone', b.time_zone,
        'counts_from', floor(extract(epoch from
          greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'period', found.period
      ),
      'added_usd', trim_scale(changed.usd)::text
    )
    from private.budget_changes(workspace, added) as changed
    join public.budgets as b on b.workspace_id = workspace and b.id = changed.budget_id and b.blocks
    cross join lateral private.budget_periods(b, changed.at) as found
    where changed.usd > 0 and (found.period ->> 'spent_usd')::numeric + case
        when private.budget_period(b, clock_timestamp()) = private.budget_period(b, changed.at) then coalesce((
          select h.usd from private.held_of_budgets(array[workspace], clock_timestamp()) as h where h.budget_id = b.id
        ), 0) else 0
      end > (found.period ->> 'limit_usd')::numeric
    order by (found.period ->> 'ends_at')::bigint desc, b.name, b.id
    limit 1
  );
end
$$;
grant execute on function private.exceeded_budget(uuid, uuid[]) to outlay_service, service_role;

-- The budgets that count a live message, and the alerts of these budgets in the same periods, of its key's limit in its month, the latest
-- first.
--
-- returns: { budgets: [{ id, name }], alerts: [{ id, rule, subject: a name, percent: null where there is none, fired_at }] }
create function private.watched_by(workspace uuid, message uuid)
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    with postings as materialized (
      select * from public.messages as m where m.workspace_id = workspace and m.id = message and m.environment = 'live'
    ), counted as materialized (
      select distinct b.id, b.name, period.first_day
      from postings as p
      join public.budgets as b on b.workspace_id = workspace and private.is_in_budget(b, p)
      cross join lateral (select private.budget_period(b, p.occurred_at) as first_day) as period
      where period.first_day >= b.counted_from
    ), fired as (
      select a.id, a.number, a.rule, c.name, a.details, a.fired_at
      from counted as c
      join public.alerts as a
        on a.workspace_id = workspace and a.subject_type = 'budget' and a.subject_id = c.id::text and a.period = c.first_day
      union
      select a.id, a.number, a.rule, k.name, a.details, a.fired_at
      from postings as p
      join public.api_keys as k on k.workspace_id = workspace and k.id = p.api_key_id
      join public.alerts as a
        on a.workspace_id = workspace and a.rule = 'key_limit' and a.subject_id = k.id::text
          and a.period = date_trunc('month', coalesce(p.counted_at, p.created_at))::date
    )
    select jsonb_build_object(
      'budgets', coalesce((
        select jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.name, b.id) from (select distinct id, name from counted) as b
      ), '[]'),
      'alerts', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', f.id, 'rule', f.rule, 'subject', f.name, 'percent', f.details -> 'percent', 'fired_at', f.fired_at
        ) order by f.number desc)
        from (select * from fired order by number desc limit 20) as f
      ), '[]')
    )
  );
end
$$;
grant execute on function private.watched_by(uuid, uuid) to outlay_service, service_role;
