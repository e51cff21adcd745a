-- How the people that messages name are recognised and found.

-- Whether a value is a person's name: exactly, or an e-mail address in any letter case.
create function private.is_person(value text, name text)
 returns boolean
 language sql
 immutable
 set search_path to ''
return value = name or position('@' in name) > 0 and lower(value) = lower(name);

-- A pattern of a name as a whole word. An e-mail address is looked for in any letter case.
create function private.pattern_of_person(name text)
 returns text
 language sql
 immutable
 set search_path to ''
as $function$
  select case when position('@' in name) > 0 then '(?i)' else '' end || '(?<![[:alnum:]._%+-])'
    || regexp_replace(name, '([^[:alnum:][:space:]])', '\\\1', 'g') || '(?![[:alnum:]])'
$function$;

-- An object of an alert or of the audit log with a pseudonym in the place of a name, in the fields that people fill in.
create function private.without_name(fields jsonb, name text, pseudonym text)
 returns jsonb
 language sql
 immutable
 set search_path to ''
as $function$
  select case when jsonb_typeof(fields) = 'object' then (
    select coalesce(jsonb_object_agg(field.key, case
      when jsonb_typeof(field.value) = 'string' and field.key in (
          'name', 'budget', 'subject', 'scope_value', 'scope_key', 'target', 'target_name', 'label', 'notes', 'reason'
        )
        then to_jsonb(regexp_replace(field.value #>> '{}', private.pattern_of_person(name), pseudonym, 'g'))
      else field.value
    end), '{}') from jsonb_each(fields) as field
  ) else fields end
$function$;

-- The spellings of a person in a workspace's usage. Only an e-mail address has more than one.
create function private.spellings_of_person(workspace uuid, name text)
 returns setof text
 language sql
 stable security definer
 set search_path to ''
as $function$
  select name
  union
  select distinct t.value from public.daily_totals as t
  where t.workspace_id = workspace and t.dimension = 'user' and private.is_person(t.value, name)
$function$;

-- Lists where a person's name occurs, for an admin who is about to have it erased. Changes nothing.
-- returns: { spellings, message_count, billed_count, budgets, api_keys, alert_count, audit_count, request_count, tags }; `tags` stay as they
--   are; `request_count` is of the first 100,000 requests
create function private.find_person(workspace uuid, person text)
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
    'billed_count', (
      select count(*) from public.billed_facts as f
      where f.workspace_id = workspace and (
        private.is_person(f.end_user, person) or position('@' in person) > 0 and (f.key_name ~ pattern or f.line ~ pattern)
      )
    ),
    'budgets', (
      select coalesce(jsonb_agg(b.name order by b.name), '[]') from public.budgets as b
      where b.workspace_id = workspace and (b.name ~ pattern or b.scope_type = 'user' and private.is_person(b.scope_value, person))
    ),
    'provider_limits', (
      select coalesce(jsonb_agg(coalesce(l.target_name, l.target) order by coalesce(l.target_name, l.target)), '[]')
      from public.provider_limits as l
      where l.workspace_id = workspace and private.is_limit_of_person(l, person)
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
grant execute on function private.find_person(uuid, text) to outlay_service, service_role;
