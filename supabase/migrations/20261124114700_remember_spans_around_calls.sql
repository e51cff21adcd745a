-- Remembers spans with those around them for a day, so that calls get the names of spans that come in later exports, and a call around
-- others gives way to them whichever comes first.

alter table private.call_tellings
  alter column likeness drop not null,
  alter column started_us drop not null,
  alter column ended_us drop not null,
  alter column scope drop not null,
  alter column cache drop not null,
  alter column message_id drop not null,
  alter column ids drop not null,
  alter column rank drop not null,
  alter column emitter drop not null,
  add column span bigint,
  add column parent bigint,
  add column names jsonb;

drop index private.call_tellings_likeness_idx;
create index call_tellings_likeness_idx on private.call_tellings (api_key_id, likeness, ended_us) where likeness is not null;
create index call_tellings_span_idx on private.call_tellings (api_key_id, span) where span is not null;
create index call_tellings_parent_idx on private.call_tellings (api_key_id, parent) where parent is not null;

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
    select jsonb_agg(to_jsonb(m) || jsonb_build_object(
      'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
      'list_price_usd', m.list_price_usd::text
    ) order by m.id, m.part) into stored
    from public.messages as m
    where m.workspace_id = any (workspaces) and m.id = any (told)
      and m.occurred_at between to_timestamp(first_us / 1000000.0) - interval '1 day' and to_timestamp(last_us / 1000000.0) + interval '1 day';
    -- Calls of a closed month are booked when they were recorded.
    if exists (select from public.workspaces as w where w.id = any (workspaces) and w.closed_until > to_timestamp(first_us / 1000000.0) - interval '1 day') then
      select coalesce(stored, '[]') || coalesce(jsonb_agg(to_jsonb(m) || jsonb_build_object(
        'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
        'list_price_usd', m.list_price_usd::text
      ) order by m.id, m.part), '[]') into stored
      from public.messages as m
      where m.workspace_id = any (workspaces) and m.id = any (told)
        and m.adjusts between to_timestamp(first_us / 1000000.0) - interval '1 day' and to_timestamp(last_us / 1000000.0) + interval '1 day';
    end if;
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
create or replace function private.store_tellings(told jsonb)
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

-- Does one step of the oldest erasure that no process is working on. First a day of postings with all their sums, at most as
-- many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person. Sums
-- of messages that were removed change as they are.
--
-- returns: how many postings and answers it changed; null where there is nothing to do
create or replace function private.erase_some(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  job public.erasures;
  first_day date;
  of_month date;
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  select * into job from public.erasures where status <> 'done' order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    of_month := date_trunc('month', first_day)::date;
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and m.occurred_at >= first_day and m.occurred_at < first_day + 1
      limit at_most
      for update
    ), renamed as (
      update public.messages as m set end_user = job.pseudonym
      from found
      where m.workspace_id = job.workspace_id and m.id = found.id and m.part = found.part
        and m.occurred_at = found.occurred_at
      returning m.*
    ), sums as (
      select project_id, api_key_id, type, provider, model, feature, source, environment, tags,
        sum(amount_usd) as amount_usd, count(*) as posting_count,
        coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
        sum(private.sign_of(voids)) as item_count,
        coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
        coalesce(sum(list_price_usd), 0) as included_usd
      from renamed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
    select array_agg(row(
        job.workspace_id, first_day, project_id, api_key_id, type, provider, model, feature, source, environment,
        side * amount_usd, side * message_count, side * item_count, side * unpriced_count,
        case side when 1 then job.pseudonym else job.end_user end, tags, side * included_usd
      )::public.daily_spend),
      coalesce(sum(posting_count) filter (where side = 1), 0)
    into changes, changed
    from sums cross join (values (1), (-1)) as sides (side);
    if changed = 0 then
      select array_agg(row(
          d.workspace_id, d.day, d.project_id, d.api_key_id, d.type, d.provider, d.model, d.feature, d.source, d.environment,
          side * d.amount_usd, side * d.message_count, side * d.item_count, side * d.unpriced_count,
          case side when 1 then job.pseudonym else job.end_user end, d.tags, side * d.included_usd
        )::public.daily_spend)
      into changes
      from public.daily_spend as d cross join (values (1), (-1)) as sides (side)
      where d.workspace_id = job.workspace_id and d.end_user = job.end_user and d.day = first_day;
    end if;
    perform private.add_daily_spend(changes);
    perform private.count_waiting_spend(job.workspace_id);
    delete from private.waiting_spend where workspace_id = job.workspace_id;
    -- Sums of nothing may stand for messages and their voids, which are to be found by them: they go after the last posting.
    if changed < at_most then
      delete from public.daily_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.daily_totals
      where workspace_id = job.workspace_id and dimension = 'user' and value = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and month = of_month
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_totals as t
      where t.workspace_id = job.workspace_id and t.environment in ('live', 'test') and t.dimension = 'user'
        and t.first_day = of_month and t.value = job.end_user
        and t.amount_usd = 0 and t.message_count = 0 and t.unpriced_count = 0 and t.included_usd = 0;
    end if;
    update public.erasures set status = 'running', changed_count = changed_count + changed
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  with next as materialized (
    select key, environment from private.idempotency
    where workspace_id = job.workspace_id
      and (job.cursor_key is null or (key, environment) > (job.cursor_key, job.cursor_environment))
    order by key, environment
    limit at_most * 10
  ), forgotten as (
    update private.idempotency as i set request = private.without_person(i.request, job.end_user)
    from next
    where i.workspace_id = job.workspace_id and i.key = next.key and i.environment = next.environment
      and i.request is distinct from private.without_person(i.request, job.end_user)
    returning 1
  )
  select count(*), (array_agg(key order by key desc, environment desc))[1],
    (array_agg(environment order by key desc, environment desc))[1], (select count(*) from forgotten)
  into seen, last_key, last_environment, changed
  from next;
  if seen > 0 then
    update public.erasures
    set status = 'running', cursor_key = last_key, cursor_environment = last_environment
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  update public.budgets
  set scope_value = job.pseudonym, name = case when name = left(job.end_user, 120) then job.pseudonym else name end
  where workspace_id = job.workspace_id and scope_type = 'user' and scope_value = job.end_user;
  -- A condition without its name would allow every user; with the pseudonym it allows nobody in the place of the person.
  update public.api_keys
  set conditions = jsonb_set(conditions, '{users}', (
    select jsonb_agg(case when name = job.end_user then job.pseudonym else name end order by place)
    from jsonb_array_elements_text(conditions -> 'users') with ordinality as users (name, place)
  ))
  where workspace_id = job.workspace_id and conditions -> 'users' ? job.end_user;

  old_json := to_jsonb(job.end_user)::text;
  new_json := to_jsonb(job.pseudonym)::text;
  delete from public.refused_exports
  where workspace_id = job.workspace_id and position(old_json in records::text) > 0;
  update private.call_tellings set names = names - 'user'
  where workspace_id = job.workspace_id and names ->> 'user' = job.end_user;
  update public.alerts set details = replace(details::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and position(old_json in details::text) > 0;
  update public.source_refusals set example = null
  where workspace_id = job.workspace_id and position(old_json in example::text) > 0;
  -- The only change of the audit log there is: what was changed, when and by whom stays.
  update public.audit_log
  set before = replace(before::text, old_json, new_json)::jsonb, after = replace(after::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and (subject like 'budget %' or subject like 'api\_key %')
    and (position(old_json in before::text) > 0 or position(old_json in after::text) > 0);

  update public.erasures
  set status = 'done', end_user = null, cursor_key = null, cursor_environment = null, finished_at = now()
  where workspace_id = job.workspace_id and id = job.id;
  return 0;
end
$function$;
