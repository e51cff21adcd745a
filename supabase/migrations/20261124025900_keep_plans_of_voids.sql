-- A void is not planned for the partition of every month: its statements keep their plans.

create function private.recorded_message(workspace uuid, message uuid)
returns boolean
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (
    select from public.messages as m
    join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
    where m.workspace_id = workspace and m.id = message
      and k.created_by = (select auth.uid()) and k.kind in ('member', 'connection')
  );
end
$$;
revoke execute on function private.recorded_message(uuid, uuid) from public;
grant execute on function private.recorded_message(uuid, uuid) to authenticated;

alter policy "An admin voids any cost, a member what they recorded" on public.message_voids
  with check (
    user_id = (select auth.uid())
    and (
      workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      or workspace_id in (select private.member_workspaces(array['member']))
        and private.recorded_message(workspace_id, message_id)
    )
  );

alter function private.count_messages(uuid[], uuid[]) set plan_cache_mode = force_generic_plan;

create or replace function private.exceeded_budget(workspace uuid, message uuid)
returns jsonb
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
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
  );
end
$$;
