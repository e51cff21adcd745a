-- What a key may learn of its limits whatever its permissions: what it spent, and which blocking budgets its own settings
-- name. Budgets of other scopes may hold it back, too; the refusal names them.
-- returns: { spent_usd: exact text, this UTC month; budgets: as load_blocking_budgets, with a period of now }
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
      cross join lateral (select private.describe_budget_period(b, now()) as period) as present
      where b.workspace_id = k.workspace_id and b.blocks and k.environment = 'live' and present.period is not null
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
revoke execute on function private.read_key_limits(uuid) from public;
grant execute on function private.read_key_limits(uuid) to outlay_service, service_role;
