-- Records that other programs send, and those that were refused.

-- The running totals that emitters report (cumulative metrics), one row for each series and start. `settled` is the total
-- up to which the ledger holds what was used; `pending` lists later totals, [{ "time": ns, "value": total }], which are
-- recorded next. A restart begins a series with another start, and so another row.
create table private.running_totals (
  workspace_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  series text not null check (char_length(series) between 1 and 128),
  start_ns numeric(20, 0) not null,
  settled numeric not null default 0,
  settled_ns numeric(20, 0) not null default 0,
  pending jsonb not null default '[]',
  updated_at timestamptz not null default now(),
  primary key (workspace_id, environment, series, start_ns)
);

create index running_totals_updated_at_idx on private.running_totals (updated_at);

alter table private.running_totals enable row level security;
revoke all on private.running_totals from anon, authenticated, service_role;

-- The spans of the last day, a row for each. Of those that told a call, because another program may tell the same call without an id
-- that both know (lib/ledger/telemetry/same-call.ts): `likeness` is a hash of the model and the counts, times are microseconds
-- since 1970, `scope` and `trace` hashes of who told it and where, `ids` the bits of the ids that it has, `cache` a hash of how
-- its input divides. `message_id` is what stands in the ledger for the call, `recorded_as` what its idempotency keys name, which a
-- correction may have replaced; null is the same, unless `message_id` is null: then calls inside the span took its place. Of all spans,
-- because those around a call may come later than it (lib/ledger/telemetry/span-tree.ts): `trace`, `span` and `parent` are 48 bits of
-- their ids, `names` whom and what the calls inside are for. A span that told no call has these alone.
create table private.call_tellings (
  workspace_id uuid not null,
  api_key_id uuid not null,
  likeness bigint,
  started_us bigint,
  ended_us bigint,
  scope bigint,
  trace bigint not null,
  cache bigint,
  message_id uuid,
  told_at timestamptz not null default now(),
  ids smallint,
  rank smallint,
  emitter text,
  recorded_as uuid,
  span bigint,
  parent bigint,
  names jsonb
);

create index call_tellings_likeness_idx on private.call_tellings (api_key_id, likeness, ended_us) where likeness is not null;
create index call_tellings_span_idx on private.call_tellings (api_key_id, span) where span is not null;
create index call_tellings_parent_idx on private.call_tellings (api_key_id, parent) where parent is not null;
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

-- Messages that tellings were recorded as, whose calls began and ended between two times, up to a day.
--
-- returns: rows of messages, decimals as text; null where there are none
create function private.load_told(workspaces uuid[], ids uuid[], first_us bigint, last_us bigint)
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  stored jsonb;
  from_at timestamptz := to_timestamp(first_us / 1000000.0) - interval '1 day';
  until_at timestamptz := to_timestamp(last_us / 1000000.0) + interval '1 day';
begin
  select jsonb_agg(to_jsonb(m) || jsonb_build_object(
    'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
    'list_price_usd', m.list_price_usd::text
  ) order by m.id, m.part) into stored
  from public.messages as m
  where m.workspace_id = any (workspaces) and m.id = any (ids) and m.occurred_at between from_at and until_at;
  -- Calls of a closed month are booked when they were recorded.
  if exists (select from public.workspaces as w where w.id = any (workspaces) and w.closed_until > from_at) then
    select coalesce(stored, '[]') || coalesce(jsonb_agg(to_jsonb(m) || jsonb_build_object(
      'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
      'list_price_usd', m.list_price_usd::text
    ) order by m.id, m.part), '[]') into stored
    from public.messages as m
    where m.workspace_id = any (workspaces) and m.id = any (ids) and m.adjusts between from_at and until_at;
  end if;
  return stored;
end
$$;
grant execute on function private.load_told(uuid[], uuid[], bigint, bigint) to outlay_service, service_role;

-- What was recorded for tellings that may be told again, and sums that may be taken back, as `load_admission` answers it. The
-- caller holds the lock of the keys (`outlay.tellings`).
--
-- wanted: [{ key, likeness, scope, from, until, last_start, first_end, most }], microseconds: of the alike tellings of a key from the
--   first start to the last end, with the last start and the first end; `scope` is null where several programs tell them; at `most` so
--   many are returned for each. A version before has no `key` (then any of key_ids), `last_start`, `first_end` and `most`.
--   Besides, [{ key, trace, spans, parents }]: spans of an export, and those around them that are in no export yet; up to 100 levels
--   and 2,000 spans around and inside them are returned
-- marks: of hours, see `private.counted_sums`
-- returns: { calls: rows of call_tellings, messages: rows of messages, sums: rows of counted_sums, projects: those that calls name }
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
  of_tree jsonb;
  of_spans uuid[];
  first_span_us bigint;
  last_span_us bigint;
  projects jsonb;
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

  if jsonb_path_exists(wanted, '$[*].spans') then
    -- Each step reads by an index, whatever the table holds: a limit keeps the planner from joining the whole of it.
    with recursive named as (
      select w.key, w.trace, named.span, named.is_parent
      from jsonb_to_recordset(wanted) as w (key uuid, trace bigint, spans bigint[], parents bigint[])
      cross join lateral (
        select span, false as is_parent from unnest(w.spans) as span
        union all
        select span, true from unnest(w.parents) as span
      ) as named
      where w.key = any (key_ids)
    ), around as (
      select t.ctid as place, t.api_key_id, t.trace, t.parent, 1 as level
      from named
      cross join lateral (
        select ctid, * from private.call_tellings as one
        where one.api_key_id = named.key and one.span = named.span and one.trace = named.trace limit 4
      ) as t
      union
      select t.ctid, t.api_key_id, t.trace, t.parent, around.level + 1
      from around
      cross join lateral (
        select ctid, * from private.call_tellings as one
        where one.api_key_id = around.api_key_id and one.span = around.parent and one.trace = around.trace limit 4
      ) as t
      where around.level < 100
    ), inside as (
      select t.ctid as place, t.api_key_id, t.trace, t.span, 1 as level
      from named
      cross join lateral (
        select ctid, * from private.call_tellings as one
        where one.api_key_id = named.key and one.parent = named.span and one.trace = named.trace limit 2000
      ) as t
      where not named.is_parent
      union
      select t.ctid, t.api_key_id, t.trace, t.span, inside.level + 1
      from inside
      cross join lateral (
        select ctid, * from private.call_tellings as one
        where one.api_key_id = inside.api_key_id and one.parent = inside.span and one.trace = inside.trace limit 2000
      ) as t
      where inside.level < 100
    ), near as (
      (select place from around limit 2000) union (select place from inside limit 2000)
    ), found as (
      select t.* from near join private.call_tellings as t on t.ctid = near.place
    ), whole as (
      -- With what else was told of the same calls.
      select found.* from found
      union
      select t.* from found
      cross join lateral (
        select * from private.call_tellings as one
        where one.api_key_id = found.api_key_id and one.likeness = found.likeness and one.message_id = found.message_id
          and one.ended_us between found.ended_us - 600000000 and found.ended_us + 600000000
        limit 8
      ) as t
    )
    select jsonb_agg(to_jsonb(whole) - 'told_at'), array_agg(distinct message_id) filter (where message_id is not null),
      min(ended_us), max(ended_us)
    into of_tree, of_spans, first_span_us, last_span_us
    from whole;
    if of_tree is not null then
      calls := coalesce(calls, '[]') || of_tree;
      told := told || of_spans;
      first_us := least(first_us, first_span_us);
      last_us := greatest(last_us, last_span_us);
      select jsonb_agg(jsonb_build_object('workspace_id', p.workspace_id, 'slug', p.slug, 'id', p.id)) into projects
      from public.projects as p
      where p.workspace_id = any (workspaces) and p.slug = any (array(
        select distinct coalesce(c.value -> 'names' ->> 'chosenProject', c.value -> 'names' ->> 'project')
        from jsonb_array_elements(calls) as c
      ));
    end if;
  end if;

  if told is not null then
    stored := private.load_told(workspaces, told, first_us, last_us);
  end if;

  if cardinality(marks) > 0 then
    select jsonb_agg(jsonb_build_object('mark', s.mark, 'message_id', s.message_id, 'environment', s.environment)) into sums
    from private.counted_sums as s
    where s.workspace_id = any (workspaces) and s.mark = any (marks);
  end if;
  return jsonb_build_object(
    'calls', coalesce(calls, '[]'), 'messages', coalesce(stored, '[]'), 'sums', coalesce(sums, '[]'),
    'projects', coalesce(projects, '[]')
  );
end
$$;

-- Adds totals to their series. A total that is not later than those that are known was told before and is left out.
--
-- points: [{ series, start, time, value }], decimal text
-- returns: [{ series, start, settled, settled_ns, pending: [{ time, value }] }], for each series that was named
create function private.advance_totals(workspace uuid, env text, points jsonb)
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
grant execute on function private.advance_totals(uuid, text, jsonb) to outlay_service, service_role;

-- Remembers that the ledger holds what was used up to these totals.
--
-- totals: [{ series, start, time, value }], decimal text
create function private.settle_totals(workspace uuid, env text, totals jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  update private.running_totals as t
  set settled = s.value, settled_ns = s.time,
    pending = coalesce((
      select jsonb_agg(later.value order by (later.value ->> 'time')::numeric)
      from jsonb_array_elements(t.pending) as later
      where (later.value ->> 'time')::numeric > s.time
    ), '[]')
  from jsonb_to_recordset(totals) as s (series text, start numeric, time numeric, value numeric)
  where t.workspace_id = workspace and t.environment = env and t.series = s.series and t.start_ns = s.start
    and t.settled_ns < s.time;
$$;
grant execute on function private.settle_totals(uuid, text, jsonb) to outlay_service, service_role;

-- Remembers tellings and sums, and corrects what was recorded before: a better telling takes the place of a message, or nothing
-- does where the calls of a sum are told. Runs after the messages of the transaction are stored.
--
-- told: {
--   calls: rows of call_tellings, sums: rows of counted_sums,
--   corrections: [{ workspace_id, message_id, reason, postings: rows of messages | null, api_key_id, likenesses, ends, mark }], a message once
-- }
create function private.store_tellings(told jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  taken jsonb;
  replaced jsonb;
begin
  insert into private.call_tellings (
    workspace_id, api_key_id, likeness, started_us, ended_us, scope, trace, cache, message_id, ids, rank, emitter, recorded_as,
    span, parent, names
  )
  select workspace_id, api_key_id, likeness, started_us, ended_us, scope, trace, cache, message_id, ids, rank, emitter, recorded_as,
    span, parent, names
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
  select jsonb_agg(c.value), jsonb_agg(c.value) filter (where jsonb_typeof(c.value -> 'postings') = 'array')
  into taken, replaced
  from jsonb_array_elements(told -> 'corrections') as c
  join voided as v on v.workspace_id = (c.value ->> 'workspace_id')::uuid and v.message_id = (c.value ->> 'message_id')::uuid;
  if replaced is not null then
    perform private.record_corrections(replaced);
  end if;
  if taken is not null then
    -- Sums have no tellings. A call that has no further postings gave way to calls inside it.
    update private.call_tellings as t set message_id = (c.postings -> 0 ->> 'id')::uuid
    from jsonb_to_recordset(taken) as c (message_id uuid, api_key_id uuid, likenesses bigint[], ends bigint[], postings jsonb)
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
grant execute on function private.sweep_tellings(integer) to outlay_service, service_role;

-- Counts of what a source (an API key) sent, by emitter, with the latest record. Counted some time after the export, at most
-- about once a second by each process, so that no row is written with every export.
create table public.source_arrivals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  emitter text not null check (char_length(emitter) between 1 and 64),
  told_count bigint not null default 0,
  recorded_count bigint not null default 0,
  repeated_count bigint not null default 0,
  refused_count bigint not null default 0,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  last_message_id uuid,
  last_provider text,
  last_model text,
  last_amount_usd numeric,
  last_cost_status text,
  last_recorded_at timestamptz,
  primary key (workspace_id, api_key_id, emitter),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

alter table public.source_arrivals enable row level security;
revoke all on public.source_arrivals from anon, authenticated, service_role;
grant select on public.source_arrivals to authenticated;

create policy "A member reads what came in from their sources"
  on public.source_arrivals for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Why records (`of_record`) and whole requests of a source were refused. `reason` is a hash of the code and what distinguishes it. `example` has
-- names of the last such record: emitter, project, feature, provider, model and time. A source has at most 50 reasons.
create table public.source_refusals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  reason text not null check (char_length(reason) = 64),
  code text not null check (char_length(code) between 1 and 64),
  of_record boolean not null,
  description text not null check (char_length(description) <= 500),
  refused_count bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  example jsonb,
  primary key (workspace_id, api_key_id, reason),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint source_refusals_example_check check (octet_length(example::text) <= 16384)
);

alter table public.source_refusals enable row level security;
revoke all on public.source_refusals from anon, authenticated, service_role;
grant select on public.source_refusals to authenticated;

create policy "A member reads what was refused from their sources"
  on public.source_refusals for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The refused records of the last exports of a source, to be sent again: what was read from them by the list of attributes,
-- never the payload. A source has at most 20 of them with 1 MiB in all, for 7 days. Members see that they are there; their
-- content is read by the service alone.
create table public.refused_exports (
  workspace_id uuid not null,
  api_key_id uuid not null,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default clock_timestamp(),
  record_count integer not null check (record_count > 0),
  byte_count integer not null,
  address text,
  records jsonb not null,
  primary key (workspace_id, api_key_id, id),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

create index refused_exports_at_idx on public.refused_exports (at);

alter table public.refused_exports enable row level security;
revoke all on public.refused_exports from anon, authenticated, service_role;
grant select (workspace_id, api_key_id, id, at, record_count, byte_count) on public.refused_exports to authenticated;

create policy "A member reads that refused records of their sources are kept"
  on public.refused_exports for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Outcomes of a source's usage records, by the hour in which they arrived. `by` gives the detail or the reason, and may be
-- empty (`SourceOutcome` in lib/contract/sources/sources.ts). Kept for 7 days.
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
create function private.note_sources(noted jsonb)
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
grant execute on function private.note_sources(jsonb) to outlay_service, service_role;

-- The kept refused records of a key, oldest first, and the hash by which the guard finds the key.
--
-- returns: { hash: hex | null, exports: [{ id, address, records }] }
create function private.take_refused_exports(workspace uuid, key_id uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('hash', encode(s.hash, 'hex'), 'exports', coalesce((
    select jsonb_agg(jsonb_build_object('id', e.id, 'address', e.address, 'records', e.records) order by e.at, e.id)
    from public.refused_exports as e
    where e.workspace_id = workspace and e.api_key_id = key_id and e.at >= now() - interval '7 days'
  ), '[]'))
  from public.api_keys as k
  left join private.api_key_secrets as s on s.api_key_id = k.id
  where k.workspace_id = workspace and k.id = key_id
$$;
grant execute on function private.take_refused_exports(uuid, uuid) to outlay_service, service_role;

-- Keeps the records of a refused export that are still refused, or deletes the export if none are.
create function private.settle_refused_export(workspace uuid, key_id uuid, export_id uuid, refused jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if jsonb_array_length(refused) = 0 then
    delete from public.refused_exports where workspace_id = workspace and api_key_id = key_id and id = export_id;
    return;
  end if;
  update public.refused_exports
  set records = refused, record_count = jsonb_array_length(refused), byte_count = octet_length(refused::text)
  where workspace_id = workspace and api_key_id = key_id and id = export_id;
end
$$;
grant execute on function private.settle_refused_export(uuid, uuid, uuid, jsonb) to outlay_service, service_role;
