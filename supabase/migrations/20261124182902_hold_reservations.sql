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
revoke execute on function private.held_reservations(uuid[], timestamptz) from public;

-- What is held of each budget of some workspaces at an instant. It counts against the present period.
create function private.held_of_budgets(workspaces uuid[], at timestamptz)
returns table (budget_id uuid, usd numeric)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with held as materialized (
      select r.workspace_id, r.project, r.api_key_id, r.provider, r.model, r.feature, r.end_user, r.tags, sum(r.amount_usd) as usd
      from private.held_reservations(workspaces, at) as r
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
revoke execute on function private.held_of_budgets(uuid[], timestamptz) from public;

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
        select api_key_id, sum(amount_usd) as usd, count(*) as count
        from private.held_reservations(workspaces, at) where api_key_id = any (keys) group by 1
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
revoke execute on function private.load_held(uuid[], uuid[], jsonb) from public;

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
revoke execute on function private.describe_reservation(private.reservations) from public;

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
revoke execute on function private.store_reservations(jsonb) from public;
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
revoke execute on function private.settle_reservations(jsonb) from public;
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
revoke execute on function private.read_reservation(uuid, uuid, boolean) from public;
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
revoke execute on function private.forget_reservations(integer) from public;
grant execute on function private.forget_reservations(integer) to outlay_service, service_role;

create or replace function private.load_admission(requested jsonb)
returns json
language plpgsql
security definer
set search_path to ''
set "TimeZone" to 'UTC'
set plan_cache_mode to 'force_generic_plan'
as $$
declare
  key_ids uuid[];
  limited_ids uuid[];
  workspace_ids uuid[];
  now_at timestamptz;
  window_start timestamptz;
  usage jsonb := '{}';
  keys json;
  projects json := '[]';
  replays json := '[]';
  budgets jsonb;
  refused jsonb;
  held jsonb;
  teller_ids uuid[];
  tellings jsonb;
begin
  -- The key of SVC_API_KEY is created, with the demo workspace that it belongs to, when it is first used. A member's own
  -- key is created when it is first needed.
  if requested -> 'ids' ? '00000000-0000-4000-8000-0000000000e1' then
    insert into public.workspaces (id, slug, name, type)
    values ('00000000-0000-4000-8000-0000000000d0', 'demo', 'Demo', 'demo')
    on conflict do nothing;
    insert into public.api_keys (workspace_id, id, name, prefix, last_four, permissions, kind)
    values (
      '00000000-0000-4000-8000-0000000000d0', '00000000-0000-4000-8000-0000000000e1', 'Environment key', 'SVC_API_KEY', 'none',
      array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries'], 'environment'
    )
    on conflict do nothing;
  end if;

  select array_agg(id) into key_ids from private.keys_named(requested);

  -- Shared with other groups; a change of the workspace's prices and the closing of a month take this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null or requested ? 'reserving')
    order by id
    for no key update
  );

  -- What is told with one key is decided by one group after another, so that each sees the calls that the others recorded.
  if requested ? 'tellers' then
    teller_ids := array(
      select distinct id from private.keys_named(requested)
      where lookup = any (array(select jsonb_array_elements_text(requested -> 'tellers')))
      order by id
    );
    perform pg_advisory_xact_lock(hashtextextended('outlay.tellings.' || id, 0)) from unnest(teller_ids) as id;
  end if;

  now_at := date_trunc('milliseconds', clock_timestamp());
  window_start := now_at - interval '60 seconds';

  if cardinality(limited_ids) > 0 then
    select jsonb_object_agg(k.id, jsonb_build_object(
      'spent', case when k.monthly_limit is not null then coalesce((
        select spend.amount_usd from public.key_spend as spend
        where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
          and spend.month = date_trunc('month', now_at)::date
      ), 0)::text end,
      'rate_window', case when k.rate_limit_rpm is not null then (
        select jsonb_build_object(
          'total', latest.total,
          'used', latest.total - coalesce(oldest.total - oldest.admitted, latest.total),
          'latest_at', (extract(epoch from latest.at) * 1000)::bigint,
          'frees_at', (
            select (extract(epoch from w.at) * 1000)::bigint + 60000
            from private.rate_windows as w
            where w.api_key_id = k.id
              and w.total > greatest(latest.total - k.rate_limit_rpm, oldest.total - oldest.admitted)
            order by w.total limit 1
          )
        )
        from (
          select w.total, w.at from private.rate_windows as w
          where w.api_key_id = k.id order by w.total desc limit 1
        ) as latest
        left join lateral (
          select w.total, w.admitted from private.rate_windows as w
          where w.api_key_id = k.id and w.at > window_start order by w.at, w.total limit 1
        ) as oldest on true
      ) end
    )) into usage
    from public.api_keys as k
    where k.id = any (limited_ids);
  end if;

  select coalesce(json_agg(json_build_object(
    'lookup', named.lookup,
    'token', named.token,
    'id', k.id,
    'kind', k.kind,
    'workspace_id', k.workspace_id,
    'prices_version', w.prices_version,
    'time_zone', w.time_zone,
    'closed_until', w.closed_until,
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
    'on_limit', k.on_limit,
    'spent', usage -> k.id::text ->> 'spent',
    'expires_at', (extract(epoch from k.expires_at) * 1000)::bigint,
    'revoked', k.revoked_at is not null,
    'last_used_at', (extract(epoch from k.last_used_at) * 1000)::bigint,
    'allowed_cidrs', k.allowed_cidrs,
    'rate_limit_rpm', k.rate_limit_rpm,
    'source_settings', k.source_settings,
    'rate_window', usage -> k.id::text -> 'rate_window'
  )), '[]'), array_agg(distinct k.workspace_id) into keys, workspace_ids
  -- Reads the keys again under the locks: a secret that was rotated or a token that was revoked meanwhile is not found.
  from private.keys_named(requested) as named
  join public.api_keys as k on k.id = named.id
  join public.workspaces as w on w.id = k.workspace_id
  where k.id = any (key_ids);

  -- A group names few workspaces and few names. A name that only another workspace of the group asked for is harmless: the
  -- service looks a name up together with its workspace.
  if jsonb_array_length(requested -> 'projects') > 0 then
    select coalesce(json_agg(json_build_object('workspace_id', p.workspace_id, 'slug', p.slug, 'id', p.id)), '[]')
    into projects
    from public.projects as p
    where p.workspace_id = any (workspace_ids)
      and p.slug = any (array(select wanted.value ->> 'slug' from jsonb_array_elements(requested -> 'projects') as wanted));
  end if;

  -- Only calls that record name projects. Locked after the keys, so that no two groups wait for each other.
  if jsonb_array_length(requested -> 'projects') > 0 and exists (
    select from public.budgets as b where b.blocks and b.workspace_id = any (workspace_ids)
  ) then
    budgets := private.load_blocking_budgets(workspace_ids);
  end if;

  -- Ends of reservations are compared with the time that `load_held` takes, under all locks.
  if requested ? 'reservations' or requested ? 'reserving' or jsonb_array_length(requested -> 'projects') > 0 and exists (
    select from private.reservations as r
    where r.workspace_id = any (workspace_ids) and r.state = 'held' and r.expires_at > now_at
  ) then
    held := private.load_held(workspace_ids, key_ids, requested);
  end if;

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(json_agg(json_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    where i.workspace_id = any (workspace_ids)
      and i.key = any (array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted));
    refused := private.refused_among(
      workspace_ids, array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted)
    );
  end if;

  if cardinality(teller_ids) > 0 then
    tellings := private.load_tellings(
      teller_ids, workspace_ids, (
        select coalesce(jsonb_agg(wanted.value || jsonb_build_object('key', named.id)), '[]')
        from jsonb_array_elements(requested -> 'tellings') as wanted
        left join private.keys_named(requested) as named on named.lookup = requested -> 'tellers' ->> (wanted.value ->> 'teller')::integer
        where named.id is not null or not wanted.value ? 'teller'
      ), array(select jsonb_array_elements_text(requested -> 'marks'))
    );
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'refused', refused, 'held', held,
    'tellings', tellings
  );
end
$$;

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

create or replace function private.exceeded_budget(workspace uuid, added uuid[])
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
