-- Recognises one call that two programs tell without a common id, and takes back what metrics counted once calls are told.

drop function private.claim_tellings(uuid, text, text, text[]);
drop table private.telling_claims;

-- The calls that spans told of in the last day, a row for each telling: another program may tell the same call without an id
-- that both know (lib/ledger/telemetry/same-call.ts). `likeness` is a hash of the model and the counts, times are microseconds
-- since 1970, `scope` and `trace` hashes of who told it and where, `ids` the bits of the ids that it has, `cache` a hash of how
-- its input divides. `message_id` is what stands in the ledger for the call.
create table private.call_tellings (
  workspace_id uuid not null,
  api_key_id uuid not null,
  likeness bigint not null,
  started_us bigint not null,
  ended_us bigint not null,
  scope bigint not null,
  trace bigint not null,
  cache bigint not null,
  message_id uuid not null,
  told_at timestamptz not null default now(),
  ids smallint not null,
  rank smallint not null,
  emitter text not null
);

create index call_tellings_likeness_idx on private.call_tellings (api_key_id, likeness, ended_us);
create index call_tellings_told_at_idx on private.call_tellings using brin (told_at);

alter table private.call_tellings enable row level security;
revoke all on private.call_tellings from anon, authenticated, service_role;

-- The messages of metrics, which tell the sum of calls, by what they are about: `mark` names an hour of a session, a user or a
-- service. Once calls of that hour are told one by one, they take the place of these messages.
create table private.counted_sums (
  workspace_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  mark text not null check (char_length(mark) between 1 and 255),
  message_id uuid not null,
  counted_at timestamptz not null default now(),
  primary key (workspace_id, environment, mark, message_id)
);

create index counted_sums_counted_at_idx on private.counted_sums (counted_at);

alter table private.counted_sums enable row level security;
revoke all on private.counted_sums from anon, authenticated, service_role;

-- What was recorded for tellings that may be told again, and sums that may be taken back, as `load_admission` answers it. The
-- caller holds the lock of the keys (`outlay.tellings`).
--
-- wanted: [{ likeness, scope, from, until }], microseconds; `scope` is null where several programs tell alike calls
-- marks: of hours, see `private.counted_sums`
-- returns: { calls: rows of call_tellings, messages: rows of messages, sums: rows of counted_sums }
create function private.load_tellings(key_ids uuid[], workspaces uuid[], wanted jsonb, marks text[])
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
  select jsonb_agg(to_jsonb(candidate) - 'is_other' - 'told_at'), array_agg(distinct candidate.message_id), min(candidate.ended_us), max(candidate.ended_us)
  into calls, told, first_us, last_us
  from (
    select near.*, bool_or(w.scope is null or near.scope <> w.scope) over (partition by near.message_id) as is_other
    from jsonb_to_recordset(wanted) as w (likeness bigint, scope bigint, "from" bigint, until bigint)
    cross join lateral (
      select * from private.call_tellings as t
      where t.api_key_id = any (key_ids) and t.likeness = w.likeness
        and t.ended_us between w."from" - 1000000 and w.until + 600000000 and t.started_us <= w.until + 1000000
      limit 500
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
revoke execute on function private.load_tellings(uuid[], uuid[], jsonb, text[]) from public;

-- Remembers tellings and sums, and corrects what was recorded before: a better telling takes the place of a message, or nothing
-- does where the calls of a sum are told. Runs after the messages of the transaction are stored.
--
-- told: {
--   calls: rows of call_tellings, sums: rows of counted_sums,
--   corrections: [{ workspace_id, message_id, reason, postings: rows of messages | null, api_key_id, likenesses, mark }], a message once
-- }
create function private.store_tellings(told jsonb)
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
    from jsonb_to_recordset(replaced) as c (message_id uuid, api_key_id uuid, likenesses bigint[], postings jsonb)
    where t.api_key_id = c.api_key_id and t.likeness = any (c.likenesses) and t.message_id = c.message_id;
  end if;
  delete from private.counted_sums as s
  using jsonb_to_recordset(told -> 'corrections') as c (workspace_id uuid, message_id uuid, mark text)
  where s.workspace_id = c.workspace_id and s.message_id = c.message_id and s.mark = c.mark;
end
$$;
revoke execute on function private.store_tellings(jsonb) from public;
grant execute on function private.store_tellings(jsonb) to outlay_service, service_role;

-- Deletes what is too old to be told again, tellings after a day and sums after a week, and accounts of a week ago. returns: how many of the kind with most
create function private.sweep_tellings(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most integer;
  changed integer;
begin
  delete from private.call_tellings where ctid = any (array(
    select t.ctid from private.call_tellings as t where t.told_at < now() - interval '1 day' limit at_most for update skip locked
  ));
  get diagnostics most = row_count;
  delete from private.counted_sums where ctid = any (array(
    select s.ctid from private.counted_sums as s where s.counted_at < now() - interval '7 days' limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  most := greatest(most, changed);
  delete from public.source_hours where ctid = any (array(
    select h.ctid from public.source_hours as h where h.hour < now() - interval '8 days' limit at_most for update skip locked
  ));
  get diagnostics changed = row_count;
  return greatest(most, changed);
end
$$;
revoke execute on function private.sweep_tellings(integer) from public;
grant execute on function private.sweep_tellings(integer) to outlay_service, service_role;

-- What became of the records of a source that tell usage, by the hour in which they came. `by` says by what or why, and is empty
-- where there is nothing to say (`SourceOutcome` in lib/contract/sources/sources.ts). Kept for 7 days.
create table public.source_hours (
  workspace_id uuid not null,
  api_key_id uuid not null,
  hour timestamptz not null default date_trunc('hour', now()),
  emitter text not null check (char_length(emitter) between 1 and 64),
  outcome text not null check (char_length(outcome) between 1 and 64),
  by text not null check (char_length(by) <= 64),
  record_count bigint not null,
  primary key (workspace_id, api_key_id, hour, emitter, outcome, by),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

create index source_hours_hour_idx on public.source_hours (hour);

alter table public.source_hours enable row level security;
revoke all on public.source_hours from anon, authenticated, service_role;
grant select on public.source_hours to authenticated;

create policy "A member reads what became of what their sources told"
  on public.source_hours for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Adds what came in from sources. Rows are locked in the order of their keys, because processes write at the same time.
--
-- noted: {
--   arrivals: [{ key, emitter, told, recorded, repeated, refused, latest: { id, provider, model, amount, status } | null }],
--   refusals: [{ key, reason, code, of_record, description, count, example }],
--   account: [{ key, emitter, outcome, by, count }],
--   exports: [{ key, address, records }]
-- }
create or replace function private.note_sources(noted jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.source_arrivals as known (
    workspace_id, api_key_id, emitter, told_count, recorded_count, repeated_count, refused_count,
    last_message_id, last_provider, last_model, last_amount_usd, last_cost_status, last_recorded_at
  )
  select k.workspace_id, k.id, a.emitter, a.told, a.recorded, a.repeated, a.refused,
    (a.latest ->> 'id')::uuid, a.latest ->> 'provider', a.latest ->> 'model', (a.latest ->> 'amount')::numeric,
    a.latest ->> 'status', case when a.latest is not null then now() end
  from jsonb_to_recordset(noted -> 'arrivals') as a (
    key uuid, emitter text, told bigint, recorded bigint, repeated bigint, refused bigint, latest jsonb
  )
  join public.api_keys as k on k.id = a.key
  order by k.id, a.emitter
  on conflict (workspace_id, api_key_id, emitter) do update set
    told_count = known.told_count + excluded.told_count,
    recorded_count = known.recorded_count + excluded.recorded_count,
    repeated_count = known.repeated_count + excluded.repeated_count,
    refused_count = known.refused_count + excluded.refused_count,
    last_at = now(),
    last_message_id = coalesce(excluded.last_message_id, known.last_message_id),
    last_provider = case when excluded.last_message_id is null then known.last_provider else excluded.last_provider end,
    last_model = case when excluded.last_message_id is null then known.last_model else excluded.last_model end,
    last_amount_usd = coalesce(excluded.last_amount_usd, known.last_amount_usd),
    last_cost_status = coalesce(excluded.last_cost_status, known.last_cost_status),
    last_recorded_at = coalesce(excluded.last_recorded_at, known.last_recorded_at);

  -- Versions before this one note no account.
  insert into public.source_hours as known (workspace_id, api_key_id, emitter, outcome, by, record_count)
  select k.workspace_id, k.id, a.emitter, a.outcome, a.by, a.count
  from jsonb_to_recordset(coalesce(noted -> 'account', '[]')) as a (key uuid, emitter text, outcome text, by text, count bigint)
  join public.api_keys as k on k.id = a.key
  order by k.id, a.emitter, a.outcome, a.by
  on conflict (workspace_id, api_key_id, hour, emitter, outcome, by) do update set
    record_count = known.record_count + excluded.record_count;

  insert into public.source_refusals as known (workspace_id, api_key_id, reason, code, of_record, description, refused_count, example)
  select k.workspace_id, k.id, r.reason, r.code, r.of_record, r.description, r.count, r.example
  from jsonb_to_recordset(noted -> 'refusals') as r (
    key uuid, reason text, code text, of_record boolean, description text, count bigint, example jsonb
  )
  join public.api_keys as k on k.id = r.key
  order by k.id, r.reason
  on conflict (workspace_id, api_key_id, reason) do update set
    refused_count = known.refused_count + excluded.refused_count,
    description = excluded.description,
    last_at = now(),
    example = coalesce(excluded.example, known.example);

  delete from public.source_refusals as old
  using (
    select workspace_id, api_key_id, reason,
      row_number() over (partition by workspace_id, api_key_id order by last_at desc, refused_count desc, reason) as place
    from public.source_refusals
    where api_key_id in (select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r)
      and workspace_id in (select k.workspace_id from public.api_keys as k where k.id in (
        select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r
      ))
  ) as ranked
  where ranked.place > 50 and old.workspace_id = ranked.workspace_id and old.api_key_id = ranked.api_key_id
    and old.reason = ranked.reason;

  if jsonb_array_length(noted -> 'exports') = 0 then
    return;
  end if;
  insert into public.refused_exports (workspace_id, api_key_id, record_count, byte_count, address, records)
  select k.workspace_id, k.id, jsonb_array_length(e.records), octet_length(e.records::text), e.address, e.records
  from jsonb_to_recordset(noted -> 'exports') as e (key uuid, address text, records jsonb)
  join public.api_keys as k on k.id = e.key;

  delete from public.refused_exports as old
  using (
    select workspace_id, api_key_id, id,
      row_number() over newest as place, sum(byte_count) over newest as bytes
    from public.refused_exports
    where api_key_id in (select (e.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'exports') as e)
    window newest as (partition by workspace_id, api_key_id order by at desc, id rows unbounded preceding)
  ) as ranked
  where (ranked.place > 20 or ranked.bytes > 1048576) and old.workspace_id = ranked.workspace_id
    and old.api_key_id = ranked.api_key_id and old.id = ranked.id;
  delete from public.refused_exports
  where ctid in (
    select ctid from public.refused_exports where at < now() - interval '7 days' limit 100 for update skip locked
  );
end
$$;

-- Adds totals to their series. A total that is not later than those that are known was told before and is left out.
--
-- points: [{ series, start, time, value }], decimal text
-- returns: [{ series, start, settled, settled_ns, pending: [{ time, value }] }], for each series that was named
create or replace function private.advance_totals(workspace uuid, env text, points jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  answer jsonb;
begin
  -- A process that is this long silent has ended; its totals will not be compared again.
  delete from private.running_totals
  where ctid in (
    select ctid from private.running_totals where updated_at < now() - interval '40 days' limit 100 for update skip locked
  );

  insert into private.running_totals (workspace_id, environment, series, start_ns)
  select distinct workspace, env, p.series, p.start
  from jsonb_to_recordset(points) as p (series text, start numeric)
  order by p.series, p.start
  on conflict do nothing;

  perform from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric))
  order by t.series, t.start_ns
  for update;

  update private.running_totals as t
  set updated_at = now(), pending = t.pending || later.totals
  from (
    select p.series, p.start, jsonb_agg(jsonb_build_object('time', p.time::text, 'value', p.value::text) order by p.time) as totals
    from (
      select distinct on (series, start, time) series, start, time, value
      from jsonb_to_recordset(points) as one (series text, start numeric, time numeric, value numeric)
      order by series, start, time, value
    ) as p
    join private.running_totals as known
      on known.workspace_id = workspace and known.environment = env and known.series = p.series and known.start_ns = p.start
    where p.time > greatest(known.settled_ns, coalesce((known.pending -> -1 ->> 'time')::numeric, 0))
    group by p.series, p.start
  ) as later
  where t.workspace_id = workspace and t.environment = env and t.series = later.series and t.start_ns = later.start;

  select coalesce(jsonb_agg(jsonb_build_object(
    'series', t.series, 'start', t.start_ns::text, 'settled', t.settled::text, 'settled_ns', t.settled_ns::text, 'pending', t.pending
  )), '[]') into answer
  from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric));
  return answer;
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
      teller_ids, workspace_ids, requested -> 'tellings', array(select jsonb_array_elements_text(requested -> 'marks'))
    );
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'tellings', tellings
  );
end
$$;

drop trigger voids_are_posted on public.message_voids;
drop function private.post_void();

-- Adds the postings of voids or corrections to every sum, as those of other messages are added when they are recorded.
create function private.count_messages(workspaces uuid[], ids uuid[])
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  with posted as (
    select *, private.sign_of(voids) as sign from public.messages
    where (workspace_id, id) in (select * from unnest(workspaces, ids))
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date, sum(amount_usd),
      coalesce(sum(sign) filter (where part = 0), 0)
    from posted
    where api_key_id is not null
    group by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from posted
    where exists (select from public.budgets where budgets.workspace_id = posted.workspace_id)
  ) into changes, budgeted
  from (
    select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags, sum(amount_usd) as amount_usd,
      coalesce(sum(sign) filter (where part = 0), 0) as message_count,
      sum(sign) as item_count,
      coalesce(sum(sign) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from posted
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$$;
revoke execute on function private.count_messages(uuid[], uuid[]) from public;

drop function private.count_message(uuid, uuid);

-- Posts voids. Raises an error of class P0 where there is nothing to void.
create function private.post_voids()
returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  wrong record;
begin
  perform private.hold_budgets(array(select distinct workspace_id from added order by 1));
  perform 1 from public.messages as m join added as a on a.workspace_id = m.workspace_id and a.message_id = m.id
  order by m.workspace_id, m.id, m.part for update of m;
  select a.message_id, found_now.stored, found_now.is_void into wrong
  from added as a
  cross join lateral (
    select count(*) as stored, bool_or(m.voids is not null) as is_void,
      case when bool_or(m.type = 'subscription' and m.details ->> 'interval' = 'year') then 12 else max(m.part) + 1 end as wanted
    from public.messages as m where m.workspace_id = a.workspace_id and m.id = a.message_id
  ) as found_now
  where found_now.stored = 0 or found_now.is_void or found_now.stored <> found_now.wanted
  limit 1;
  if wrong.stored = 0 then
    raise exception 'there is no message %', wrong.message_id using errcode = 'no_data_found';
  elsif wrong.is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif wrong.stored > 0 then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages as m set voided_by = a.void_id from added as a
  where m.workspace_id = a.workspace_id and m.id = a.message_id;
  insert into public.messages
  select (jsonb_populate_record(m, jsonb_build_object(
    'id', a.void_id, 'voids', m.id, 'voided_by', null, 'created_at', a.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', a.user_id, 'notes', a.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  ))).*
  from added as a
  join public.messages as m on m.workspace_id = a.workspace_id and m.id = a.message_id;
  perform private.count_messages(array_agg(workspace_id), array_agg(void_id)) from added having count(*) > 0;
  return null;
end
$$;
revoke execute on function private.post_voids() from public;
create trigger voids_are_posted after insert on public.message_voids
  referencing new table as added for each statement execute function private.post_voids();

-- Records what replaces messages that were voided in this transaction.
-- corrections: [{ workspace_id, message_id, postings: rows of `messages` }]
create function private.record_corrections(corrections jsonb)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  voided integer;
begin
  update public.message_voids as v set corrected_by = (c.postings -> 0 ->> 'id')::uuid
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  where v.workspace_id = c.workspace_id and v.message_id = c.message_id and v.corrected_by is null
    and v.xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  get diagnostics voided = row_count;
  if voided <> jsonb_array_length(corrections) then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select (jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', c.workspace_id, 'api_key_id', original.api_key_id, 'environment', original.environment,
    'source', original.source, 'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(),
    'counted_at', coalesce(original.counted_at, original.created_at)
  ))).*
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  cross join lateral (
    select m.api_key_id, m.environment, m.source, m.emitter, m.counted_at, m.created_at from public.messages as m
    where m.workspace_id = c.workspace_id and m.id = c.message_id
    order by m.part limit 1
  ) as original
  cross join lateral jsonb_array_elements(c.postings) as posting;
  perform private.count_messages(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid))
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, postings jsonb)
  having count(*) > 0;
end
$$;
revoke execute on function private.record_corrections(jsonb) from public;

-- Records what replaces one message.
create or replace function private.record_correction(workspace uuid, message uuid, postings jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  select private.record_corrections(jsonb_build_array(
    jsonb_build_object('workspace_id', workspace, 'message_id', message, 'postings', postings)
  ))
$$;

drop trigger voids_are_audited on public.message_voids;
create constraint trigger voids_are_audited after insert on public.message_voids
  deferrable initially deferred for each row when (new.user_id is not null) execute function private.audit_void();
