-- What other programs told of calls, so that a call that is told twice is counted once.

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
