-- Recording has three steps in one transaction: the state that the guard needs is loaded and locked; admitted calls are
-- counted; and the messages are stored with their sums.

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

-- The keys that a request names, and how it names them. A key with a secret is found by its secret only, a connection by
-- a valid access token only. In plpgsql, which caches its plans, because every group of messages calls it.
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
revoke all on function private.keys_named(jsonb) from public;

-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ lookup, slug }], idempotency: [{ lookup, key }] },
--   where a lookup is the hex hash (of a secret or of an access token) or the id by which the request names its key.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }] }
--
-- Keys that have a limit are locked first, in order of id. Only then the time is taken and the state read, each statement
-- with its own snapshot: state that was read before the lock could let limits be exceeded.
create function private.load_admission(requested jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  key_ids uuid[];
  now_at timestamptz;
  window_start timestamptz;
  keys jsonb;
  projects jsonb := '[]';
  replays jsonb := '[]';
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

  -- Shared with other groups; a change of the workspace's prices takes this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  perform from public.api_keys
  where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
  order by id
  for no key update;

  now_at := date_trunc('milliseconds', clock_timestamp());
  window_start := now_at - interval '60 seconds';

  select coalesce(jsonb_agg(jsonb_build_object(
    'lookup', named.lookup,
    'token', named.token,
    'id', k.id,
    'kind', k.kind,
    'workspace_id', k.workspace_id,
    'prices_version', (select w.prices_version from public.workspaces as w where w.id = k.workspace_id),
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
    'spent', case when k.monthly_limit is not null then coalesce((
      select spend.amount_usd from public.key_spend as spend
      where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
        and spend.month = date_trunc('month', now_at)::date
    ), 0)::text end,
    'expires_at', (extract(epoch from k.expires_at) * 1000)::bigint,
    'revoked', k.revoked_at is not null,
    'last_used_at', (extract(epoch from k.last_used_at) * 1000)::bigint,
    'allowed_cidrs', k.allowed_cidrs,
    'rate_limit_rpm', k.rate_limit_rpm,
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
  )), '[]') into keys
  -- Reads the keys again under the locks: a secret that was rotated or a token that was revoked meanwhile is not found.
  from private.keys_named(requested) as named
  join public.api_keys as k on k.id = named.id
  where k.id = any (key_ids);

  if jsonb_array_length(requested -> 'projects') > 0 then
    select coalesce(jsonb_agg(jsonb_build_object('workspace_id', p.workspace_id, 'slug', p.slug, 'id', p.id)), '[]')
    into projects
    from public.projects as p
    join (
      select distinct (k.value ->> 'workspace_id')::uuid as workspace_id, wanted.value ->> 'slug' as slug
      from jsonb_array_elements(requested -> 'projects') as wanted
      join jsonb_array_elements(keys) as k on k.value ->> 'lookup' = wanted.value ->> 'lookup'
    ) as wanted using (workspace_id, slug);
  end if;

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(jsonb_agg(jsonb_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    join (
      select distinct (k.value ->> 'workspace_id')::uuid as workspace_id, wanted.value ->> 'key' as key
      from jsonb_array_elements(requested -> 'idempotency') as wanted
      join jsonb_array_elements(keys) as k on k.value ->> 'lookup' = wanted.value ->> 'lookup'
    ) as wanted using (workspace_id, key);
  end if;

  return jsonb_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays
  );
end
$$;

-- Counts admitted requests against their keys' rolling windows. The caller holds the keys' locks from load_admission.
-- admissions: [{ api_key_id, admitted, total, at: ms }]. Deletes rows that have left the window.
create function private.record_admissions(admissions jsonb)
returns void
language sql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
  with counted as (
    select api_key_id, admitted, total, to_timestamp(at / 1000.0) as at
    from jsonb_to_recordset(admissions) as a (api_key_id uuid, admitted integer, total bigint, at bigint)
  ), forgotten as (
    delete from private.rate_windows as w using counted
    where w.api_key_id = counted.api_key_id and w.at <= counted.at - interval '60 seconds'
  )
  insert into private.rate_windows (api_key_id, total, admitted, at)
  select api_key_id, total, admitted, at from counted
$$;

revoke all on function private.load_admission(jsonb), private.record_admissions(jsonb) from public;
grant execute on function private.load_admission(jsonb), private.record_admissions(jsonb) to outlay_service, service_role;

-- What projects have spent in ranges of days, for allocations: no allocation may move more than its source has spent in
-- that month. So the caller locks the source, environment and month until its transaction ends, and the next caller sees
-- what it moved. The locks are taken in one order, after the keys' locks and before any row is written.
--
-- In plpgsql and volatile: each statement has its own snapshot, and that of the second is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create function private.load_project_spend(wanted jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  spend jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.allocations.' || source, 0))
  from (
    select distinct concat_ws(' ', workspace_id, project_id, environment, date_trunc('month', "from")::date) as source
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date)
    order by 1
  ) as sources;

  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0)::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$$;
revoke all on function private.load_project_spend(jsonb) from public;
grant execute on function private.load_project_spend(jsonb) to outlay_service, service_role;

-- Stores admitted messages with everything that must be committed with them: their projects, the sums, the keys' spend
-- and the responses of their idempotency keys, always in this order.
--
-- Raises serialization_failure (40001) if another process has created a project or used an idempotency key meanwhile; the
-- caller then loads the state and decides again.
create function private.store_messages(projects jsonb, messages jsonb, replays jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  written integer;
  changes public.daily_spend[];
begin
  if jsonb_array_length(projects) > 0 then
    insert into public.projects (workspace_id, id, slug, name)
    select workspace_id, id, slug, name
    from jsonb_to_recordset(projects) as p (workspace_id uuid, id uuid, slug text, name text)
    order by workspace_id, slug
    on conflict (workspace_id, slug) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(projects) then
      raise exception 'another request made the project first' using errcode = 'serialization_failure';
    end if;
  end if;

  if jsonb_array_length(replays) > 0 then
    insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
    select workspace_id, request ->> 'environment', key, message_id, request, response, created_at
    from jsonb_to_recordset(replays)
      as r (workspace_id uuid, key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
    order by workspace_id, request ->> 'environment', key
    on conflict (workspace_id, key, environment) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(replays) then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end if;
  end if;

  with stored as (
    insert into public.messages (
      workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment,
      provider, model, feature, unit_type, quantity, amount_usd, cost_status, price, currency, original_amount,
      batch_id, label, category, notes, metadata, details, items
    )
    select
      workspace_id, id, coalesce(part, 0), occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment,
      provider, model, feature, unit_type, quantity, amount_usd, cost_status, price, currency, original_amount,
      batch_id, label, category, notes, metadata, details, items
    from jsonb_to_recordset(messages) as m (
      workspace_id uuid, id uuid, part smallint, occurred_at timestamptz, created_at timestamptz, project_id uuid,
      api_key_id uuid, user_id uuid, type text, source text, environment text, provider text, model text, feature text,
      unit_type text, quantity numeric, amount_usd numeric, cost_status text, price jsonb, currency text,
      original_amount numeric, batch_id text, label text, category text, notes text, metadata jsonb, details jsonb, items jsonb
    )
    returning *
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), count(*) filter (where part = 0)
    from stored
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count
  )::public.daily_spend) into changes
  from (
    select
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider,
      case when items is null then stored.model else line.model end as model,
      case when items is null then stored.feature else line.feature end as feature,
      source, environment,
      sum(case when items is null then stored.amount_usd else line.amount_usd end) as amount_usd,
      count(*) filter (where part = 0 and coalesce(line.number, 1) = 1) as message_count,
      count(*) filter (where part = 0) as item_count,
      count(*) filter (where case when items is null then stored.cost_status else line.cost_status end = 'unpriced')
        as unpriced_count
    from stored
    left join lateral rows from (
      jsonb_to_recordset(stored.items) as (model text, feature text, amount_usd numeric, cost_status text)
    ) with ordinality as line (model, feature, amount_usd, cost_status, number) on true
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ) as sums;
  perform private.add_daily_spend(changes);
end
$$;
revoke all on function private.store_messages(jsonb, jsonb, jsonb) from public;
grant execute on function private.store_messages(jsonb, jsonb, jsonb) to outlay_service, service_role;
