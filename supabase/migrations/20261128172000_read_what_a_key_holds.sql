-- What is held of a key is read from its own reservations, and what is held of budgets where there are budgets: a decision no longer
-- reads what all other keys of the workspace hold.
create index reservations_held_of_key_idx on private.reservations (workspace_id, api_key_id, expires_at) where state = 'held';

-- What is held of each budget of some workspaces at an instant. It counts against the present period.
create or replace function private.held_of_budgets(workspaces uuid[], at timestamptz)
returns table (budget_id uuid, usd numeric)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  budgeted constant uuid[] := array(
    select w.id from unnest(workspaces) as w (id) where exists (select from public.budgets as b where b.workspace_id = w.id)
  );
begin
  return query
    with held as materialized (
      select r.workspace_id, r.project, r.api_key_id, r.provider, r.model, r.feature, r.end_user, r.tags, sum(r.amount_usd) as usd
      from private.held_reservations(budgeted, at) as r
      where r.environment = 'live'
      group by 1, 2, 3, 4, 5, 6, 7, 8
    )
    select b.id, sum(h.usd)
    from held as h
    join public.budgets as b on b.workspace_id = h.workspace_id
    where case b.scope_type
      when 'global' then true
      when 'key' then h.api_key_id::text = b.scope_key
      when 'provider' then h.provider = b.scope_key
      when 'model' then h.model = b.scope_key
      when 'feature' then h.feature = b.scope_key
      when 'user' then h.end_user = b.scope_key
      when 'tag' then h.tags @> array[b.scope_key]
      else h.project = (select p.slug from public.projects as p where p.workspace_id = b.workspace_id and p.id::text = b.scope_key)
    end
    group by b.id;
end
$$;

-- What decisions must know of reservations: what is held of keys and budgets, those that messages name, and those that were made with
-- the same idempotency keys. Those named stay locked until the transaction ends. Called under the locks of the keys and budgets, after
-- which the time is taken: what one decision takes for over, no later one takes for held.
-- asked: { reservations: [id], reserving: [idempotency key] }, either may be missing
-- returns: { keys: [{ id, usd, count }], budgets: [{ id, usd }], named: [{ …, is_held }], made: [{ …, key, request }] }
create or replace function private.load_held(workspaces uuid[], keys uuid[], asked jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  wanted constant uuid[] := array(select jsonb_array_elements_text(asked -> 'reservations')::uuid);
  made constant text[] := array(select jsonb_array_elements_text(asked -> 'reserving'));
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
    'budgets', coalesce((
      select jsonb_agg(jsonb_build_object('id', h.budget_id, 'usd', h.usd::text)) from private.held_of_budgets(workspaces, at) as h
    ), '[]'),
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
