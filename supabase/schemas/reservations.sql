-- Money that is held for calls of models that are about to be made.

-- A reservation holds its amount until it is settled by the message of its call, released, or past its end. It is for one call, so it
-- has one of each name by which budgets count. Rows are kept for a day, so that a retry is answered as the first time.
create table private.reservations (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  api_key_id uuid not null,
  amount_usd numeric not null check (amount_usd > 0),
  project text not null,
  -- In lower case, as budgets compare it.
  provider text not null,
  model text,
  feature text,
  end_user text,
  tags text[],
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  state text not null default 'held' check (state in ('held', 'settled', 'released')),
  message_id uuid,
  settled_usd numeric,
  idempotency_key text,
  request jsonb not null,
  primary key (workspace_id, id),
  constraint reservations_idempotency_key unique (workspace_id, environment, idempotency_key)
);

create index reservations_held_idx on private.reservations (workspace_id, expires_at) where state = 'held';
create index reservations_held_of_key_idx on private.reservations (workspace_id, api_key_id, expires_at) where state = 'held';
create index reservations_age_idx on private.reservations (created_at);

alter table private.reservations enable row level security;
revoke all on private.reservations from anon, authenticated, service_role;

-- What is held at an instant, of keys that were not revoked: the clock alone releases what is past its end.
create function private.held_reservations(workspaces uuid[], at timestamptz)
returns setof private.reservations
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select r.* from private.reservations as r
    join public.api_keys as k on k.workspace_id = r.workspace_id and k.id = r.api_key_id and k.revoked_at is null
    where r.workspace_id = any (workspaces) and r.state = 'held' and r.expires_at > at;
end
$$;

-- What is held of each budget of some workspaces at an instant. It counts against the present period.
create function private.held_of_budgets(workspaces uuid[], at timestamptz)
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

-- What is held of the budgets of the caller's workspaces, of which something is.
create function private.held_for_members()
returns table (budget_id uuid, usd numeric)
language sql stable security definer set search_path = ''
as $$
  select h.budget_id, h.usd
  from private.held_of_budgets(array(select private.member_workspaces()), clock_timestamp()) as h
$$;
grant execute on function private.held_for_members() to authenticated, service_role;

-- What is held of each budget of which something is, for members.
create view public.budget_holds with (security_invoker = true) as
select b.workspace_id, b.id as budget_id, h.usd as held_usd
from private.held_for_members() as h
join public.budgets as b on b.id = h.budget_id;
revoke all on public.budget_holds from anon, authenticated, service_role;
grant select on public.budget_holds to authenticated, service_role;

-- What decisions must know of reservations: what is held of keys and budgets, those that messages name, and those that were made with
-- the same idempotency keys. Those named stay locked until the transaction ends. Called under the locks of the keys and budgets, after
-- which the time is taken: what one decision takes for over, no later one takes for held.
-- asked: { reservations: [id], reserving: [idempotency key] }, either may be missing
-- returns: { keys: [{ id, usd, count }], budgets: [{ id, usd }], named: [{ …, is_held }], made: [{ …, key, request }] }
create function private.load_held(workspaces uuid[], keys uuid[], asked jsonb)
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

-- A reservation as the service reads it. An amount is exact text, times are milliseconds since 1970.
create function private.describe_reservation(reservation private.reservations)
returns jsonb
language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'id', reservation.id, 'workspace_id', reservation.workspace_id, 'environment', reservation.environment,
    'api_key_id', reservation.api_key_id, 'usd', trim_scale(reservation.amount_usd)::text, 'project', reservation.project,
    'provider', reservation.provider, 'model', reservation.model, 'feature', reservation.feature, 'user', reservation.end_user,
    'tags', reservation.tags, 'created_at', floor(extract(epoch from reservation.created_at) * 1000)::bigint,
    'expires_at', floor(extract(epoch from reservation.expires_at) * 1000)::bigint,
    'state', case when reservation.state = 'held' and reservation.expires_at <= clock_timestamp() then 'expired' else reservation.state end,
    'message_id', reservation.message_id, 'settled_usd', trim_scale(reservation.settled_usd)::text
  )
$$;

-- Writes admitted reservations. Raises serialization_failure (40001) where another process was first with an idempotency key.
-- reserved: [{ column: value }]
create function private.store_reservations(reserved jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set "TimeZone" = 'UTC'
as $$
begin
  insert into private.reservations (
    workspace_id, id, environment, api_key_id, amount_usd, project, provider, model, feature, end_user, tags, created_at, expires_at,
    idempotency_key, request
  )
  select workspace_id, id, environment, api_key_id, amount_usd, project, lower(provider), model, feature, end_user, tags, created_at,
    expires_at, idempotency_key, request
  from jsonb_populate_recordset(null::private.reservations, reserved)
  order by workspace_id, environment, idempotency_key;
exception when unique_violation then
  raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
end
$$;
grant execute on function private.store_reservations(jsonb) to outlay_service, service_role;

-- Settles reservations that private.load_held has locked, with the messages that were recorded for them.
-- settled: [{ workspace_id, id, message_id, usd }]
create function private.settle_reservations(settled jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  update private.reservations as r
  set state = 'settled', message_id = s.message_id, settled_usd = s.usd
  from jsonb_to_recordset(settled) as s (workspace_id uuid, id uuid, message_id uuid, usd numeric)
  where r.workspace_id = s.workspace_id and r.id = s.id and r.state = 'held'
$$;
grant execute on function private.settle_reservations(jsonb) to outlay_service, service_role;

-- A reservation of a key, which is released first where that is asked for and it is held. Null where the key has none of this id.
create function private.read_reservation(of_key uuid, reservation uuid, releases boolean)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if releases then
    update private.reservations as r set state = 'released'
    from public.api_keys as k
    where k.id = of_key and r.workspace_id = k.workspace_id and r.api_key_id = k.id and r.id = reservation and r.state = 'held'
      and r.expires_at > clock_timestamp();
  end if;
  return (
    select private.describe_reservation(r)
    from public.api_keys as k
    join private.reservations as r on r.workspace_id = k.workspace_id and r.api_key_id = k.id and r.id = reservation
    where k.id = of_key
  );
end
$$;
grant execute on function private.read_reservation(uuid, uuid, boolean) to outlay_service, service_role;

-- Deletes reservations that were made more than a day ago. returns: how many
create function private.forget_reservations(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  forgotten integer;
begin
  delete from private.reservations where ctid = any (array(
    select r.ctid from private.reservations as r
    where r.created_at < clock_timestamp() - interval '1 day'
    limit at_most for update skip locked
  ));
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
grant execute on function private.forget_reservations(integer) to outlay_service, service_role;
