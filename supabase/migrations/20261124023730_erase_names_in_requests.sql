-- The requests of idempotency keys keep no label, notes, metadata, session and tags that have the name of an erased person.

-- The request of an idempotency key without a person: null in the place of what has the name, where a retry may have anything.
-- That is the user who is the person, and a label, notes, metadata, a session and tags that have the name in them.
create or replace function private.without_person(request jsonb, name text)
 returns jsonb
 language plpgsql
 immutable
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(name);
  quoted constant text := to_jsonb(lower(name))::text;
begin
  if position(substr(quoted, 2, length(quoted) - 2) in lower(request::text)) = 0 then
    return request;
  end if;
  return (
    select jsonb_object_agg(field.key, case
      when field.key = 'message' then private.without_person(field.value, name)
      when field.key = 'items' and jsonb_typeof(field.value) = 'array' then (
        select jsonb_agg(private.without_person(item, name) order by place)
        from jsonb_array_elements(field.value) with ordinality as items (item, place)
      )
      when field.key = 'user' and private.is_person(field.value #>> '{}', name)
        or field.key in ('label', 'notes', 'metadata', 'session', 'tags') and exists (
          select from jsonb_path_query(field.value, 'strict $.**') as part
          where part #>> '{}' ~ pattern and jsonb_typeof(part) = 'string'
            or jsonb_typeof(part) = 'object' and exists (select from jsonb_object_keys(part) as key where key ~ pattern)
        ) then 'null'
      else field.value
    end)
    from jsonb_each(request) as field
  );
end
$function$;

-- Where a person's name stands, for an admin who is about to have it erased; nothing is changed.
-- returns: { spellings, message_count, budgets, api_keys, alert_count, audit_count,
--   request_count, tags }; `tags` stay as they are; `request_count` is of the first 100,000 requests
create or replace function private.find_person(workspace uuid, person text)
 returns jsonb
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(person);
  spellings constant text[] := array(select private.spellings_of_person(workspace, person) order by 1);
begin
  perform private.require_admin_of(workspace);
  return jsonb_build_object(
    'spellings', spellings,
    'message_count', (
      select coalesce(sum(t.message_count), 0) from public.daily_totals as t
      where t.workspace_id = workspace and t.dimension = 'user' and t.value = any (spellings)
    ),
    'budgets', (
      select coalesce(jsonb_agg(b.name order by b.name), '[]') from public.budgets as b
      where b.workspace_id = workspace and (b.name ~ pattern or b.scope_type = 'user' and private.is_person(b.scope_value, person))
    ),
    'api_keys', (
      select coalesce(jsonb_agg(k.name order by k.name), '[]') from public.api_keys as k
      where k.workspace_id = workspace and k.conditions -> 'users' ?| spellings
    ),
    'alert_count', (
      select count(*) from public.alerts as a
      where a.workspace_id = workspace and a.details is distinct from private.without_name(a.details, person, '')
    ),
    'audit_count', (
      select count(*) from public.audit_log as l
      where l.workspace_id = workspace
        and (l.before is distinct from private.without_name(l.before, person, '') or l.after is distinct from private.without_name(l.after, person, ''))
    ),
    'request_count', (
      select count(*) from (
        select i.request from private.idempotency as i where i.workspace_id = workspace limit 100000
      ) as kept
      where kept.request is distinct from private.without_person(kept.request, person)
    ),
    'tags', (
      select coalesce(jsonb_agg(distinct t.value), '[]') from public.daily_totals as t
      where t.workspace_id = workspace and t.dimension = 'tag' and t.value ~ pattern
    )
  );
end
$function$;
