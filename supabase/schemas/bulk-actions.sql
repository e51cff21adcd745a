-- Actions of a user that void or correct many costs at once, and their undo.

-- An action with what it came to. An idempotency key makes it happen once. Which messages it voided, and what replaced them, is in
-- message_voids.
create table private.bulk_actions (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  kind text not null check (kind in ('void', 'correct')),
  message_count integer not null check (message_count > 0),
  unchanged_count integer not null,
  before_usd numeric not null,
  after_usd numeric not null,
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  request_hash text not null check (char_length(request_hash) = 64),
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  undone_at timestamptz,
  primary key (workspace_id, id),
  constraint bulk_actions_once unique (workspace_id, idempotency_key)
);
comment on column private.bulk_actions.request_hash is 'SHA-256 of the request, in hex: what its idempotency key stands for.';

alter table private.bulk_actions enable row level security;
revoke all on private.bulk_actions from anon, authenticated, service_role;

-- An action as its answer is made of.
-- key: looks it up by the idempotency key; otherwise by the id
create function private.bulk_action_of(workspace uuid, action uuid, key text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', a.id, 'kind', a.kind, 'message_count', a.message_count,
    'unchanged_count', a.unchanged_count, 'before_usd', trim_scale(a.before_usd)::text,
    'after_usd', trim_scale(a.after_usd)::text, 'request_hash', a.request_hash, 'created_at', a.created_at, 'undone_at', a.undone_at
  )
  from private.bulk_actions as a
  where a.workspace_id = workspace and case when key is null then a.id = action else a.idempotency_key = key end
$$;
grant execute on function private.bulk_action_of(uuid, uuid, text) to outlay_service, service_role;

-- Records messages again under new ids, with every sum that they are part of. They count for the same keys as before. Those of a closed
-- month are booked as adjustments of it.
--
-- change: what is different: { project_id, feature (null for none), tags: added as `name:value`, untagged: names of tags that are
--   removed, factor: the amounts are multiplied by it }; a member that is missing changes nothing
create function private.copy_messages(workspace uuid, ids uuid[], new_ids uuid[], change jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  factor constant numeric := (change ->> 'factor')::numeric;
  tagged constant text[] := array(select jsonb_array_elements_text(change -> 'tags'));
  untagged constant text[] := array(select jsonb_array_elements_text(change -> 'untagged'))
    || array(select split_part(tag, ':', 1) from unnest(tagged) as tag);
begin
  insert into public.messages
  select booked.*
  from unnest(ids, new_ids) as copy (id, new_id)
  join public.messages as m on m.workspace_id = workspace and m.id = copy.id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', copy.new_id, 'created_at', date_trunc('milliseconds', clock_timestamp()), 'voids', null, 'voided_by', null,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', auth.uid(),
    'project_id', coalesce((change ->> 'project_id')::uuid, m.project_id),
    'feature', case when change ? 'feature' then change ->> 'feature' else m.feature end,
    'tags', nullif(array(
      select tag from unnest(m.tags || tagged) with ordinality as of (tag, place)
      where place > coalesce(cardinality(m.tags), 0) or split_part(tag, ':', 1) <> all (untagged)
      order by tag collate "C"
    ), '{}')
  ) || case when factor is null then '{}' else jsonb_build_object(
    'amount_usd', round(m.amount_usd * factor, 18), 'lines_usd', round(m.lines_usd * factor, 18),
    'original_amount', m.original_amount * factor,
    'cost_status', case m.cost_status when 'converted' then 'converted' else 'client' end,
    'price', case m.cost_status when 'converted' then m.price end
  ) end), private.closed_until(workspace), private.time_zone_of(workspace)) as booked;
  if factor is not null then
    perform private.sum_lines(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
  end if;
  perform private.count_messages(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
end
$$;

-- Writes to the audit log what an action did, once for all its messages.
create function private.audit_bulk_action(workspace uuid, action uuid, did text, details jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  select
    workspace, auth.uid(), auth.email(), 'bulk_action.' || did, 'bulk_action ' || action,
    jsonb_strip_nulls(details) || jsonb_build_object('messages', a.message_count, 'before_usd', a.before_usd, 'after_usd', a.after_usd),
    nullif(current_setting('request.address', true), '')
  from private.bulk_actions as a
  where a.workspace_id = workspace and a.id = action
$$;

-- Records an action whose messages were voided in this transaction, and their replacements.
--
-- request: { id, kind, unchanged_count, idempotency_key, request_hash, change: null for a void, otherwise as for copy_messages, audited: the request for
--   the audit log }
create function private.record_bulk_action(workspace uuid, voided uuid[], request jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  action constant uuid := request ->> 'id';
  change constant jsonb := nullif(request -> 'change', 'null');
  originals uuid[];
  replacements uuid[];
  counters uuid[];
begin
  with named as (
    update public.message_voids as v
    set action_id = action, corrected_by = case when change is not null then private.new_message_id() end
    where v.workspace_id = workspace and v.message_id = any (voided) and v.action_id is null and v.corrected_by is null
      and v.xmin::text = pg_current_xact_id_if_assigned()::xid::text
    returning v.message_id, v.void_id, v.corrected_by
  )
  select array_agg(message_id order by message_id), array_agg(void_id), array_agg(corrected_by order by message_id)
  into originals, counters, replacements
  from named;
  if cardinality(originals) is distinct from cardinality(voided) then
    raise exception 'the messages were not voided in this transaction' using errcode = 'raise_exception';
  end if;
  if change is not null then
    perform private.copy_messages(workspace, originals, replacements, change);
  end if;
  insert into private.bulk_actions (
    workspace_id, id, kind, message_count, unchanged_count, before_usd, after_usd, idempotency_key, request_hash
  )
  select workspace, action, request ->> 'kind', cardinality(voided), (request ->> 'unchanged_count')::integer,
    -coalesce(sum(m.amount_usd) filter (where m.id = any (counters)), 0),
    coalesce(sum(m.amount_usd) filter (where m.id = any (replacements)), 0),
    request ->> 'idempotency_key', request ->> 'request_hash'
  from public.messages as m
  where m.workspace_id = workspace and m.id = any (counters || replacements);
  perform private.audit_bulk_action(
    workspace, action, case when change is null then 'voided' else 'corrected' end, request -> 'audited'
  );
  insert into private.deleted_things (workspace_id, kind, id, content)
  select workspace, 'bulk_action', action, jsonb_build_object('user_id', auth.uid(), 'postings', count(*))
  from public.messages as m
  where m.workspace_id = workspace and m.id = any (counters);
end
$$;
grant execute on function private.record_bulk_action(uuid, uuid[], jsonb) to outlay_service, service_role;

-- What messages that this transaction added, voids among them, do to sums, budgets and alerts; for the preview of an action.
--
-- returns: {
--   projects: [{ slug, name, environment, days: [{ day, before_usd, after_usd }] }], what the projects cost on each day;
--   budgets: [{ id, name, from, until, limit_usd, before_usd, after_usd }], a row a period;
--   alerts: [{ budget, percent, threshold_usd }], those that are raised
-- }, money as exact text
create function private.effects_of_messages(workspace uuid, added uuid[])
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC'
as $$
begin
  return jsonb_build_object(
    'projects', coalesce((
      select jsonb_agg(jsonb_build_object('slug', p.slug, 'name', p.name, 'environment', by_project.environment, 'days', by_project.days)
        order by p.name, p.slug, by_project.environment)
      from (
        select changed.project_id, changed.environment, jsonb_agg(jsonb_build_object(
          'day', changed.day, 'before_usd', trim_scale(total.usd - changed.usd)::text, 'after_usd', trim_scale(total.usd)::text
        ) order by changed.day) as days
        from (
          select m.project_id, m.environment, private.local_time(m.occurred_at, private.time_zone_of(workspace))::date as day,
            sum(m.amount_usd) as usd
          from public.messages as m
          where m.workspace_id = workspace and m.id = any (added)
          group by 1, 2, 3
          having sum(m.amount_usd) <> 0
        ) as changed
        cross join lateral (
          select coalesce(sum(t.amount_usd), 0) as usd from public.daily_totals as t
          where t.workspace_id = workspace and t.environment = changed.environment and t.dimension = 'project'
            and t.day = changed.day and t.value = changed.project_id::text
        ) as total
        group by 1, 2
      ) as by_project
      join public.projects as p on p.workspace_id = workspace and p.id = by_project.project_id
    ), '[]'),
    'budgets', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', b.id, 'name', b.name, 'from', found.period -> 'from', 'until', found.period -> 'until',
        'limit_usd', found.period -> 'limit_usd', 'before_usd', trim_scale(spend.usd - changed.usd)::text,
        'after_usd', trim_scale(spend.usd)::text
      ) order by b.name, b.id, changed.first_day)
      from private.budget_changes(workspace, added) as changed
      join public.budgets as b on b.workspace_id = workspace and b.id = changed.budget_id
      cross join lateral private.budget_periods(b, changed.at) as found
      cross join lateral (
        select coalesce(sum(s.spent_usd), 0) as usd from public.budget_spend as s
        where s.workspace_id = workspace and s.budget_id = b.id and s.environment = 'live' and s.period_from = changed.first_day
      ) as spend
    ), '[]'),
    'alerts', coalesce((
      select jsonb_agg(jsonb_build_object(
        'budget', a.details -> 'budget', 'percent', a.details -> 'percent', 'threshold_usd', a.details -> 'threshold_usd'
      ) order by a.number)
      from public.alerts as a
      where a.workspace_id = workspace and a.rule = 'budget_threshold' and not a.is_quiet
        and a.xmin::text = pg_current_xact_id_if_assigned()::xid::text
    ), '[]')
  );
end
$$;
grant execute on function private.effects_of_messages(uuid, uuid[]) to outlay_service, service_role;

-- Undoes an action of the last ten minutes: voids what it recorded, and records what it voided again. For admins, and for the
-- member whose action it was.
--
-- returns: { outcome: 'restored', 'unknown' (never there, too late, or not the caller's) or 'changed' (one of its messages was changed
--   since), added: the ids that were recorded }
create function private.undo_bulk_action(workspace uuid, action uuid)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  kept constant jsonb := private.kept_for_undo('bulk_action', workspace, action);
  undoing constant uuid := gen_random_uuid();
  originals uuid[];
  replacements uuid[];
  copies uuid[];
  counters uuid[] := '{}';
  undone_reason text;
begin
  if kept is null or not workspace in (select private.member_workspaces(
    array['owner', 'admin'] || case when (kept ->> 'user_id')::uuid = auth.uid() then array['member'] else '{}' end
  )) then
    return '{"outcome": "unknown", "added": []}';
  end if;
  perform private.hold_blocking_budgets(workspace);
  select array_agg(v.message_id order by v.message_id), array_agg(v.corrected_by order by v.message_id) filter (where v.corrected_by is not null),
    array_agg(private.new_message_id() order by v.message_id), left('Undone: ' || min(v.reason), 500)
  into originals, replacements, copies, undone_reason
  from public.message_voids as v where v.workspace_id = workspace and v.action_id = action;
  if (kept ->> 'postings')::integer <> (
      select count(*) from public.messages as m where m.workspace_id = workspace and m.id = any (originals)
    ) or exists (
      select from public.message_voids as v where v.workspace_id = workspace and v.message_id = any (replacements)
    ) then
    return '{"outcome": "changed", "added": []}';
  end if;
  if replacements is null then
    update public.message_voids as v set corrected_by = copy.id
    from unnest(originals, copies) as copy (of, id)
    where v.workspace_id = workspace and v.message_id = copy.of;
  else
    with undone as (
      insert into public.message_voids (workspace_id, message_id, corrected_by, reason, action_id)
      select workspace, replacement, copy, undone_reason, undoing
      from unnest(replacements, copies) as pair (replacement, copy)
      returning void_id
    )
    select array_agg(void_id) into counters from undone;
  end if;
  perform private.copy_messages(workspace, originals, copies, '{}');
  update private.bulk_actions as a set undone_at = date_trunc('milliseconds', now()) where a.workspace_id = workspace and a.id = action;
  perform private.audit_bulk_action(workspace, action, 'undone', '{}');
  delete from private.deleted_things as d where d.workspace_id = workspace and d.kind = 'bulk_action' and d.id = action;
  return jsonb_build_object('outcome', 'restored', 'added', to_jsonb(copies || counters));
end
$$;
grant execute on function private.undo_bulk_action(uuid, uuid) to outlay_service, service_role;
