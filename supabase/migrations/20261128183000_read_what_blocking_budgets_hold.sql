-- A decision reads what budgets hold only where a budget blocks: only such a budget refuses.
create or replace function private.load_held(workspaces uuid[], keys uuid[], asked jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  wanted constant uuid[] := array(select jsonb_array_elements_text(asked -> 'reservations')::uuid);
  made constant text[] := array(select jsonb_array_elements_text(asked -> 'reserving'));
  -- Only blocking budgets decide.
  blocked constant uuid[] := array(
    select w.id from unnest(workspaces) as w (id) where exists (select from public.budgets as b where b.workspace_id = w.id and b.blocks)
  );
  at timestamptz;
begin
  perform from private.reservations as r
  where r.workspace_id = any (workspaces) and r.id = any (wanted)
  order by r.workspace_id, r.id
  for no key update;
  at := clock_timestamp();
  return jsonb_build_object(
    'keys', coalesce((
      select jsonb_agg(jsonb_build_object('id', h.api_key_id, 'usd', h.usd::text, 'count', h.count))
      from (
        select r.api_key_id, sum(r.amount_usd) as usd, count(*) as count
        from private.reservations as r
        where r.workspace_id = any (workspaces) and r.api_key_id = any (keys) and r.state = 'held' and r.expires_at > at
        group by 1
      ) as h
    ), '[]'),
    'budgets', case when cardinality(blocked) = 0 then '[]' else coalesce((
      select jsonb_agg(jsonb_build_object('id', h.budget_id, 'usd', h.usd::text)) from private.held_of_budgets(blocked, at) as h
    ), '[]') end,
    'named', coalesce((
      select jsonb_agg(private.describe_reservation(r) || jsonb_build_object('is_held', r.state = 'held' and r.expires_at > at))
      from private.reservations as r where r.workspace_id = any (workspaces) and r.id = any (wanted)
    ), '[]'),
    'made', coalesce((
      select jsonb_agg(private.describe_reservation(r) || jsonb_build_object('key', r.idempotency_key, 'request', r.request))
      from private.reservations as r where r.workspace_id = any (workspaces) and r.idempotency_key = any (made)
    ), '[]')
  );
end
$$;
