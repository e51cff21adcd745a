-- Compares a key's calls with tellings of that key alone, and with enough of them where many are alike.

-- What was recorded for tellings that may be told again, and sums that may be taken back, as `load_admission` answers it. The
-- caller holds the lock of the keys (`outlay.tellings`).
--
-- wanted: [{ key, likeness, scope, from, until, last_start, first_end, most }], microseconds: of the alike tellings of a key from the
--   first start to the last end, with the last start and the first end; `scope` is null where several programs tell them; at `most` so
--   many are returned for each. A version before has no `key` (then any of key_ids), `last_start`, `first_end` and `most`
-- marks: of hours, see `private.counted_sums`
-- returns: { calls: rows of call_tellings, messages: rows of messages, sums: rows of counted_sums }
create or replace function private.load_tellings(key_ids uuid[], workspaces uuid[], wanted jsonb, marks text[])
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  calls jsonb;
  told uuid[];
  first_us bigint;
  last_us bigint;
  stored jsonb;
  sums jsonb;
begin
  -- Only those of another program, with what else was told of the same calls. An earlier telling ends at most ten minutes later.
  -- Of many, those that begin or end beside a wanted one come first.
  select jsonb_agg(to_jsonb(candidate) - 'is_other' - 'told_at'), array_agg(distinct candidate.message_id), min(candidate.ended_us), max(candidate.ended_us)
  into calls, told, first_us, last_us
  from (
    select near.*, bool_or(w.scope is null or near.scope <> w.scope) over (partition by near.message_id) as is_other
    from jsonb_to_recordset(wanted) as w (
      key uuid, likeness bigint, scope bigint, "from" bigint, until bigint, last_start bigint, first_end bigint, most integer
    )
    cross join lateral (
      select * from private.call_tellings as t
      where t.api_key_id = any (case when w.key is null then key_ids else array[w.key] end) and t.likeness = w.likeness
        and t.ended_us between w."from" - 1000000 and w.until + 600000000 and t.started_us <= w.until + 1000000
      order by t.ended_us not between w.first_end - 1000000 and w.until + 1000000
        and t.started_us not between w."from" - 1000000 and w.last_start + 1000000
      limit coalesce(w.most, 500)
    ) as near
  ) as candidate
  where candidate.is_other;

  if calls is not null then
    select jsonb_agg(to_jsonb(m) || jsonb_build_object(
      'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
      'list_price_usd', m.list_price_usd::text
    ) order by m.id, m.part) into stored
    from public.messages as m
    where m.workspace_id = any (workspaces) and m.id = any (told)
      and m.occurred_at between to_timestamp(first_us / 1000000.0) - interval '1 day' and to_timestamp(last_us / 1000000.0) + interval '1 day';
  end if;

  if cardinality(marks) > 0 then
    select jsonb_agg(jsonb_build_object('mark', s.mark, 'message_id', s.message_id, 'environment', s.environment)) into sums
    from private.counted_sums as s
    where s.workspace_id = any (workspaces) and s.mark = any (marks);
  end if;
  return jsonb_build_object('calls', coalesce(calls, '[]'), 'messages', coalesce(stored, '[]'), 'sums', coalesce(sums, '[]'));
end
$$;

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys. Besides, of what emitters tell: tellers:
--   [lookup], the keys that they tell with; tellings and marks, see `private.load_tellings`.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }], tellings }
--
-- Keys that have a limit are locked first, in order of id. Only then the time is taken and the state read, each statement
-- with its own snapshot: state that was read before the lock could let limits be exceeded.
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

  -- Shared with other groups; a change of the workspace's prices takes this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
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
    'prices_version', (select w.prices_version from public.workspaces as w where w.id = k.workspace_id),
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
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

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(json_agg(json_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    where i.workspace_id = any (workspace_ids)
      and i.key = any (array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted));
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
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'tellings', tellings
  );
end
$$;

-- Remembers tellings and sums, and corrects what was recorded before: a better telling takes the place of a message, or nothing
-- does where the calls of a sum are told. Runs after the messages of the transaction are stored.
--
-- told: {
--   calls: rows of call_tellings, sums: rows of counted_sums,
--   corrections: [{ workspace_id, message_id, reason, postings: rows of messages | null, api_key_id, likenesses, ends, mark }], a message once
-- }
create or replace function private.store_tellings(told jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  replaced jsonb;
begin
  insert into private.call_tellings (
    workspace_id, api_key_id, likeness, started_us, ended_us, scope, trace, cache, message_id, ids, rank, emitter
  )
  select workspace_id, api_key_id, likeness, started_us, ended_us, scope, trace, cache, message_id, ids, rank, emitter
  from jsonb_populate_recordset(null::private.call_tellings, told -> 'calls');

  insert into private.counted_sums (workspace_id, environment, mark, message_id)
  select workspace_id, environment, mark, message_id from jsonb_populate_recordset(null::private.counted_sums, told -> 'sums')
  on conflict do nothing;

  if jsonb_array_length(told -> 'corrections') = 0 then
    return;
  end if;
  -- Somebody may have voided one since it was read: then it stays void.
  with voided as (
    insert into public.message_voids (workspace_id, message_id, reason, user_id)
    select c.workspace_id, c.message_id, c.reason, null
    from jsonb_to_recordset(told -> 'corrections') as c (workspace_id uuid, message_id uuid, reason text)
    where exists (
      select from public.messages as m
      where m.workspace_id = c.workspace_id and m.id = c.message_id and m.voided_by is null
    )
    order by c.workspace_id, c.message_id
    on conflict do nothing
    returning workspace_id, message_id
  )
  select jsonb_agg(c.value) into replaced
  from jsonb_array_elements(told -> 'corrections') as c
  join voided as v on v.workspace_id = (c.value ->> 'workspace_id')::uuid and v.message_id = (c.value ->> 'message_id')::uuid
  where jsonb_typeof(c.value -> 'postings') = 'array';
  if replaced is not null then
    perform private.record_corrections(replaced);
    update private.call_tellings as t set message_id = (c.postings -> 0 ->> 'id')::uuid
    from jsonb_to_recordset(replaced) as c (message_id uuid, api_key_id uuid, likenesses bigint[], ends bigint[], postings jsonb)
    where t.api_key_id = c.api_key_id and t.likeness = any (c.likenesses) and t.message_id = c.message_id
      -- Of many alike, these alone are read. A version before gives no ends.
      and t.ended_us between coalesce((select min(told_end) from unnest(c.ends) as told_end), 0)
        and coalesce((select max(told_end) from unnest(c.ends) as told_end), 9223372036854775807);
  end if;
  delete from private.counted_sums as s
  using jsonb_to_recordset(told -> 'corrections') as c (workspace_id uuid, message_id uuid, mark text)
  where s.workspace_id = c.workspace_id and s.message_id = c.message_id and s.mark = c.mark;
end
$$;
