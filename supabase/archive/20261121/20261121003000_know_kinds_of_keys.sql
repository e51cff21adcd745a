-- Everything that records or reads is a key, whoever holds it: attribution, spend, limits, rate and row-level security
-- are then one and the same for all.
--
-- key          made by a member, used with its secret
-- connection   what an assistant holds by OAuth, used with an access token
-- member       what a signed-in user records by hand, used by id
-- environment  that of SVC_API_KEY, used by id
alter table public.api_keys
  add column kind text not null default 'key' check (kind in ('key', 'connection', 'member', 'environment'));

update public.api_keys set kind = 'environment' where id = '00000000-0000-4000-8000-0000000000e1';

-- Everything the guard needs to know about the keys behind a group of requests, as of one moment.
--
-- requested: { hashes: [hex], ids: [uuid], projects: [{ lookup, slug }], idempotency: [{ lookup, key }] },
--   where a lookup is the hex hash or the id by which the request names its key.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }] }
--
-- Keys that have a limit are locked first, in id order; only then is the time taken and the state read, each statement
-- with a snapshot of its own. Reading before the lock is held is how limits are overshot.
create or replace function private.load_admission(requested jsonb)
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
  -- The key of SVC_API_KEY is made, with the demo workspace it belongs to, at its first use. A member's own key is made by
  -- whoever first needs it.
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

  select array_agg(id) into key_ids
  from (
    select api_key_id as id from private.api_key_secrets
    where hash in (select decode(value, 'hex') from jsonb_array_elements_text(requested -> 'hashes'))
    union
    -- A key with a secret is reached by its secret alone.
    select id from public.api_keys
    where id in (select value::uuid from jsonb_array_elements_text(requested -> 'ids'))
      and kind in ('member', 'environment')
  ) as named;

  -- Shared with other groups; a change of a workspace's prices takes it alone.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  perform from public.api_keys
  where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
  order by id
  for no key update;

  now_at := date_trunc('milliseconds', clock_timestamp());
  window_start := now_at - interval '60 seconds';

  select coalesce(jsonb_agg(jsonb_build_object(
    'lookup', case when requested -> 'ids' ? k.id::text then k.id::text else encode(s.hash, 'hex') end,
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
  from public.api_keys as k
  left join private.api_key_secrets as s on s.api_key_id = k.id
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
