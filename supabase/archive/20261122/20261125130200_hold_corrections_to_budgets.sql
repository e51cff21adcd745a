-- A void or a correction that raises what is spent of a blocking budget is held to its limit, as a message is.

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
revoke execute on function private.hold_blocking_budgets(uuid) from public;
grant execute on function private.hold_blocking_budgets(uuid) to outlay_service, service_role;

-- The blocking budget that a message's void and correction took past its limit; of several the one that resets last. Null
-- where there is none: what lowers a budget's spend, or leaves it as it is, is within every limit. Called under
-- hold_blocking_budgets, after both were counted.
-- returns: { budget: as load_blocking_budgets has it, with the period; added_usd: exact text }
create function private.exceeded_budget(workspace uuid, message uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  with changed as (
    select b.id, period.first_day, min(m.occurred_at) as at, sum(m.amount_usd) as usd
    from public.message_voids as v
    join public.messages as m on m.workspace_id = v.workspace_id and m.id in (v.void_id, v.corrected_by)
    join public.budgets as b on b.workspace_id = m.workspace_id and b.blocks and private.is_in_budget(b, m)
    cross join lateral (select private.budget_period(b, m.occurred_at) as first_day) as period
    where v.workspace_id = workspace and v.message_id = message and m.environment = 'live'
      and period.first_day >= b.counted_from
    group by 1, 2
    having sum(m.amount_usd) > 0
  )
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
  from changed
  join public.budgets as b on b.workspace_id = workspace and b.id = changed.id
  cross join lateral private.budget_periods(b, changed.at) as found
  where (found.period ->> 'spent_usd')::numeric > (found.period ->> 'limit_usd')::numeric
  order by (found.period ->> 'ends_at')::bigint desc, b.name, b.id
  limit 1
$$;
revoke execute on function private.exceeded_budget(uuid, uuid) from public;
grant execute on function private.exceeded_budget(uuid, uuid) to outlay_service, service_role;
