-- The messages of tellings are read by a function of their own, also for tellings that share an id of the response and not their counts.

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
revoke execute on function private.load_told(uuid[], uuid[], bigint, bigint) from public;
grant execute on function private.load_told(uuid[], uuid[], bigint, bigint) to outlay_service, service_role;

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
