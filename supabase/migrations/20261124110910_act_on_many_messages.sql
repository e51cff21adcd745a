-- Lets users void and correct many costs in one action, and undo it.

alter table public.message_voids add column action_id uuid;
comment on column public.message_voids.action_id is 'The action that voided many at once; it is audited in their place.';

create index message_voids_action_idx on public.message_voids (workspace_id, action_id) where action_id is not null;

alter table private.deleted_things drop constraint deleted_things_kind_check;
alter table private.deleted_things add constraint deleted_things_kind_check
  check (kind in ('budget', 'saved_view', 'alert_channel', 'invitation', 'bulk_action'));

-- Writes to the audit log who voided which cost, and why. Reads the row again, because by then it names what replaced it, or the
-- action that is logged for all its voids.
create or replace function private.audit_void()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  select
    v.workspace_id, auth.uid(), auth.email(),
    case when v.corrected_by is null then 'message.voided' else 'message.corrected' end, 'message ' || v.message_id,
    jsonb_strip_nulls(jsonb_build_object('void_id', v.void_id, 'corrected_by', v.corrected_by, 'reason', v.reason)),
    nullif(current_setting('request.address', true), '')
  from public.message_voids as v
  where v.workspace_id = new.workspace_id and v.message_id = new.message_id and v.action_id is null;
  return null;
end
$$;

drop function private.exceeded_budget(uuid, uuid);

-- What live messages, voids among them, change of each budget that they are in, by the period's first day. `at` is in the period.
create or replace function private.budget_changes(workspace uuid, added uuid[])
returns table (budget_id uuid, first_day date, at timestamptz, usd numeric)
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select b.id, period.first_day, min(m.occurred_at), sum(m.amount_usd)
    from public.messages as m
    join public.budgets as b on b.workspace_id = m.workspace_id and private.is_in_budget(b, m)
    cross join lateral (select private.budget_period(b, m.occurred_at) as first_day) as period
    where m.workspace_id = workspace and m.id = any (added) and m.environment = 'live' and period.first_day >= b.counted_from
    group by 1, 2
    having sum(m.amount_usd) <> 0;
end
$$;
revoke execute on function private.budget_changes(uuid, uuid[]) from public;

-- The blocking budget that voids and corrections took past its limit; of several the one that resets last. Null if
-- there is none: a correction that does not raise a budget's spend is within every limit. Called under hold_blocking_budgets,
-- after they were counted.
-- added: the ids of the voids and of what replaced the voided messages
-- returns: { budget: as load_blocking_budgets has it, with the period; added_usd: exact text }
create or replace function private.exceeded_budget(workspace uuid, added uuid[])
returns jsonb
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select jsonb_build_object(
      'budget', jsonb_build_object(
        'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
        'time_zone', b.time_zone,
        'counts_from', floor(extract(epoch from
          greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'period', found.period
      ),
      'added_usd', trim_scale(changed.usd)::text
    )
    from private.budget_changes(workspace, added) as changed
    join public.budgets as b on b.workspace_id = workspace and b.id = changed.budget_id and b.blocks
    cross join lateral private.budget_periods(b, changed.at) as found
    where changed.usd > 0 and (found.period ->> 'spent_usd')::numeric > (found.period ->> 'limit_usd')::numeric
    order by (found.period ->> 'ends_at')::bigint desc, b.name, b.id
    limit 1
  );
end
$$;
revoke execute on function private.exceeded_budget(uuid, uuid[]) from public;
grant execute on function private.exceeded_budget(uuid, uuid[]) to outlay_service, service_role;

-- The budgets that count a live message, and the alerts of these budgets in the same periods, of its key's limit in its month, the latest
-- first.
--
-- returns: { budgets: [{ id, name }], alerts: [{ id, rule, subject: a name, percent: null where there is none, fired_at }] }
create or replace function private.watched_by(workspace uuid, message uuid)
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    with postings as materialized (
      select * from public.messages as m where m.workspace_id = workspace and m.id = message and m.environment = 'live'
    ), counted as materialized (
      select distinct b.id, b.name, period.first_day
      from postings as p
      join public.budgets as b on b.workspace_id = workspace and private.is_in_budget(b, p)
      cross join lateral (select private.budget_period(b, p.occurred_at) as first_day) as period
      where period.first_day >= b.counted_from
    ), fired as (
      select a.id, a.number, a.rule, c.name, a.details, a.fired_at
      from counted as c
      join public.alerts as a
        on a.workspace_id = workspace and a.subject_type = 'budget' and a.subject_id = c.id::text and a.period = c.first_day
      union
      select a.id, a.number, a.rule, k.name, a.details, a.fired_at
      from postings as p
      join public.api_keys as k on k.workspace_id = workspace and k.id = p.api_key_id
      join public.alerts as a
        on a.workspace_id = workspace and a.rule = 'key_limit' and a.subject_id = k.id::text
          and a.period = date_trunc('month', coalesce(p.counted_at, p.created_at))::date
    )
    select jsonb_build_object(
      'budgets', coalesce((
        select jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.name, b.id) from (select distinct id, name from counted) as b
      ), '[]'),
      'alerts', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', f.id, 'rule', f.rule, 'subject', f.name, 'percent', f.details -> 'percent', 'fired_at', f.fired_at
        ) order by f.number desc)
        from (select * from fired order by number desc limit 20) as f
      ), '[]')
    )
  );
end
$$;
revoke execute on function private.watched_by(uuid, uuid) from public;
grant execute on function private.watched_by(uuid, uuid) to outlay_service, service_role;

-- What was kept of something that can still be undone, locked until the transaction ends; null where it is too late, or there is
-- nothing. The caller decides whether the user may undo it.
create or replace function private.kept_for_undo(kind text, workspace uuid, thing uuid)
returns jsonb
language sql volatile security definer set search_path = ''
as $$
  select d.content from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = kept_for_undo.kind and d.id = thing
    and d.deleted_at >= clock_timestamp() - interval '10 minutes'
  for update
$$;
revoke execute on function private.kept_for_undo(text, uuid, uuid) from public;

-- Restores something that was deleted at most ten minutes ago, with its id and everything that belonged to it.
--
-- at_most: how many of its kind the workspace, of a view its maker, may have
-- returns: 'restored', 'unknown' (never there, swept, or not the caller's to restore), or 'full'
create or replace function private.restore_deleted(kind text, workspace uuid, thing uuid, at_most integer)
returns text
language plpgsql
security definer
set search_path = ''
as $function$
declare
  kept constant jsonb := private.kept_for_undo(kind, workspace, thing);
  part record;
  restored public.budgets;
begin
  if kept is null or not private.may_restore(workspace, kept #> '{rows,public.saved_views}') then
    return 'unknown';
  end if;
  if restore_deleted.kind = 'budget' then
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
    -- Later it would be added to the restored budget, too, which counts it now.
    perform private.count_waiting_spend(workspace);
  end if;
  -- Locks the workspace, so that two that are added at once are both counted.
  perform from public.workspaces where id = workspace and at_most is not null for no key update;
  if at_most <= (case restore_deleted.kind
    when 'saved_view' then (
      select count(*) from public.saved_views as v
      where v.workspace_id = workspace and v.created_by = (kept #>> '{rows,public.saved_views,created_by}')::uuid
    )
    when 'alert_channel' then (select count(*) from public.alert_channels as c where c.workspace_id = workspace)
  end) then
    return 'full';
  end if;
  -- The tables in `public` first, which those in `private` refer to. Postgres computes generated columns again.
  perform set_config('outlay.is_restoring', 'on', true);
  for part in select key::regclass as target, value as content from jsonb_each(kept -> 'rows') order by key desc loop
    execute (
      select format(
        'insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)',
        part.target, string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      )
      from pg_catalog.pg_attribute as a
      where a.attrelid = part.target and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    ) using part.content;
  end loop;
  perform set_config('outlay.is_restoring', '', true);
  if restore_deleted.kind = 'budget' then
    select * into restored from public.budgets as b where b.workspace_id = workspace and b.id = thing;
    perform private.count_restored_budget(restored, kept -> 'spend');
  end if;
  update public.deliveries as d set state = kept #>> array['waiting', d.id::text]
  where restore_deleted.kind = 'alert_channel' and d.workspace_id = workspace and d.channel_id = thing
    and d.state = 'cancelled' and kept -> 'waiting' ? d.id::text;
  delete from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing;
  return 'restored';
end
$function$;

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
create or replace function private.bulk_action_of(workspace uuid, action uuid, key text)
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
revoke execute on function private.bulk_action_of(uuid, uuid, text) from public;
grant execute on function private.bulk_action_of(uuid, uuid, text) to outlay_service, service_role;

-- Records messages again under new ids, with every sum that they are part of. They count for the same keys as before.
--
-- change: what is different: { project_id, feature (null for none), tags: added as `name:value`, untagged: names of tags that are
--   removed, factor: the amounts are multiplied by it }; a member that is missing changes nothing
create or replace function private.copy_messages(workspace uuid, ids uuid[], new_ids uuid[], change jsonb)
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
  select (jsonb_populate_record(m, jsonb_build_object(
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
  ) end)).*
  from unnest(ids, new_ids) as copy (id, new_id)
  join public.messages as m on m.workspace_id = workspace and m.id = copy.id;
  if factor is not null then
    perform private.sum_lines(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
  end if;
  perform private.count_messages(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
end
$$;
revoke execute on function private.copy_messages(uuid, uuid[], uuid[], jsonb) from public;

-- Writes to the audit log what an action did, once for all its messages.
create or replace function private.audit_bulk_action(workspace uuid, action uuid, did text, details jsonb)
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
revoke execute on function private.audit_bulk_action(uuid, uuid, text, jsonb) from public;

-- Records an action whose messages were voided in this transaction, and their replacements.
--
-- request: { id, kind, unchanged_count, idempotency_key, request_hash, change: null for a void, otherwise as for copy_messages, audited: the request for
--   the audit log }
create or replace function private.record_bulk_action(workspace uuid, voided uuid[], request jsonb)
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
revoke execute on function private.record_bulk_action(uuid, uuid[], jsonb) from public;
grant execute on function private.record_bulk_action(uuid, uuid[], jsonb) to outlay_service, service_role;

-- What messages that this transaction added, voids among them, do to sums, budgets and alerts; for the preview of an action.
--
-- returns: {
--   projects: [{ slug, name, environment, days: [{ day, before_usd, after_usd }] }], what the projects cost on each day;
--   budgets: [{ id, name, from, until, limit_usd, before_usd, after_usd }], a row a period;
--   alerts: [{ budget, percent, threshold_usd }], those that are raised
-- }, money as exact text
create or replace function private.effects_of_messages(workspace uuid, added uuid[])
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
          select m.project_id, m.environment, m.occurred_at::date as day, sum(m.amount_usd) as usd
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
revoke execute on function private.effects_of_messages(uuid, uuid[]) from public;
grant execute on function private.effects_of_messages(uuid, uuid[]) to outlay_service, service_role;

-- Undoes an action of the last ten minutes: voids what it recorded, and records what it voided again. For admins, and for the
-- member whose action it was.
--
-- returns: { outcome: 'restored', 'unknown' (never there, too late, or not the caller's) or 'changed' (one of its messages was changed
--   since), added: the ids that were recorded }
create or replace function private.undo_bulk_action(workspace uuid, action uuid)
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
revoke execute on function private.undo_bulk_action(uuid, uuid) from public;
grant execute on function private.undo_bulk_action(uuid, uuid) to outlay_service, service_role;
