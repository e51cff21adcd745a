-- How messages are admitted: by key, limits and rates.

-- The rolling window of a key's rate limit: one row per time at which requests were admitted, with a running total, so
-- that the number of requests in the last 60 seconds is one subtraction, at any rate.
create table private.rate_windows (
  api_key_id uuid not null,
  total bigint not null,
  admitted integer not null check (admitted > 0),
  at timestamptz not null,
  primary key (api_key_id, total)
);

create index rate_windows_at_idx on private.rate_windows (api_key_id, at);

alter table private.rate_windows enable row level security;
revoke all on private.rate_windows from anon, authenticated, service_role;

-- The keys that requests name, and how they name them. A key with a secret is found by its secret only, a connection by a valid
-- access token only. In plpgsql, which caches its plans, because every group of messages calls it.
-- token: { expires_at: ms, resource, client_id } for an access token, else null
create function private.keys_named(requested jsonb)
returns table (id uuid, lookup text, token jsonb)
language plpgsql stable security definer set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
    select s.api_key_id, wanted.value, null::jsonb
    from jsonb_array_elements_text(requested -> 'hashes') as wanted
    join private.api_key_secrets as s on s.hash = decode(wanted.value, 'hex');
  if jsonb_array_length(requested -> 'ids') > 0 then
    return query
      select k.id, wanted.value, null::jsonb
      from jsonb_array_elements_text(requested -> 'ids') as wanted
      join public.api_keys as k on k.id = wanted.value::uuid and k.kind in ('member', 'environment');
  end if;
  if jsonb_array_length(requested -> 'tokens') > 0 then
    return query
      select c.id, wanted.value, jsonb_build_object(
        'expires_at', (extract(epoch from t.expires_at) * 1000)::bigint, 'resource', g.resource, 'client_id', c.client_id
      )
      from jsonb_array_elements_text(requested -> 'tokens') as wanted
      join private.oauth_access_tokens as t on t.hash = decode(wanted.value, 'hex') and t.expires_at > clock_timestamp()
      join private.oauth_grants as g on g.id = t.grant_id
      join public.connections as c on c.id = g.connection_id;
  end if;
end
$$;

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys. Besides, of what emitters tell: tellers:
--   [lookup], the keys that they tell with; tellings and marks, see `private.load_tellings`.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }],
--   refused: see `private.refused_among`, held: see `private.load_held`, tellings }
--
-- Keys that have a limit are locked first, in order of id. Only then the time is taken and the state read, each statement
-- with its own snapshot: state that was read before the lock could let limits be exceeded.
create function private.load_admission(requested jsonb)
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
    'monthly_limit', private.key_limit(k.monthly_limit, k.raised_limit, k.raised_until, now_at)::text,
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
grant execute on function private.load_admission(jsonb) to outlay_service, service_role;

-- Counts admitted calls against their keys' rates, and deletes rows that have left every window.
-- admissions: [{ api_key_id, admitted, total, at }], `at` in milliseconds since 1970
create function private.record_admissions(admissions jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
begin
  with counted as (
    select api_key_id, admitted, total, to_timestamp(at / 1000.0) as at
    from jsonb_to_recordset(admissions) as a (api_key_id uuid, admitted integer, total bigint, at bigint)
  ), forgotten as (
    delete from private.rate_windows as w using counted
    where w.api_key_id = counted.api_key_id and w.at <= counted.at - interval '60 seconds'
  )
  insert into private.rate_windows (api_key_id, total, admitted, at)
  select api_key_id, total, admitted, at from counted;
end
$$;
grant execute on function private.record_admissions(jsonb) to outlay_service, service_role;
