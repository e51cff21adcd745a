-- Erasing a person also finds their name inside texts (names of budgets, alerts, the audit log) and, of an e-mail address, in
-- other letter case. A preview says where the name stands, and where it stays.

-- Whether a value is a person's name: exactly, or an e-mail address in any letter case.
create function private.is_person(value text, name text)
 returns boolean
 language sql
 immutable
 set search_path to ''
return value = name or position('@' in name) > 0 and lower(value) = lower(name);
revoke execute on function private.is_person(text, text) from public;

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
revoke execute on function private.pattern_of_person(text) from public;

-- An object of an alert or of the audit log with a pseudonym in the place of a name, in the fields that people fill in.
create function private.without_name(fields jsonb, name text, pseudonym text)
 returns jsonb
 language sql
 immutable
 set search_path to ''
as $function$
  select case when jsonb_typeof(fields) = 'object' then (
    select coalesce(jsonb_object_agg(field.key, case
      when jsonb_typeof(field.value) = 'string' and field.key in ('name', 'budget', 'subject', 'scope_value', 'scope_key', 'label', 'notes', 'reason')
        then to_jsonb(regexp_replace(field.value #>> '{}', private.pattern_of_person(name), pseudonym, 'g'))
      else field.value
    end), '{}') from jsonb_each(fields) as field
  ) else fields end
$function$;
revoke execute on function private.without_name(jsonb, text, text) from public;

-- The spellings of a person among the people of a workspace's usage: one but for an e-mail address.
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
revoke execute on function private.spellings_of_person(uuid, text) from public;

-- An erasure of an e-mail address is one of each of its spellings, all with one pseudonym.
create function private.erase_other_spellings()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into public.erasures (workspace_id, end_user, pseudonym)
  select new.workspace_id, spelling, new.pseudonym
  from private.spellings_of_person(new.workspace_id, new.end_user) as spelling
  where spelling <> new.end_user;
  return null;
end
$function$;
revoke execute on function private.erase_other_spellings() from public;

create trigger erasures_are_of_every_spelling after insert on public.erasures
  for each row when (pg_trigger_depth() = 0) execute function private.erase_other_spellings();

-- With the last step of an erasure, the name leaves the texts that have it.
create function private.erase_name_in_texts()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  pattern constant text := private.pattern_of_person(old.end_user);
begin
  update public.budgets
  set name = left(regexp_replace(name, pattern, old.pseudonym, 'g'), 120),
    scope_value = case when scope_type = 'user' and private.is_person(scope_value, old.end_user) then old.pseudonym else scope_value end
  where workspace_id = old.workspace_id and (name ~ pattern or scope_type = 'user' and private.is_person(scope_value, old.end_user));
  update public.alerts set details = private.without_name(details, old.end_user, old.pseudonym)
  where workspace_id = old.workspace_id and details is distinct from private.without_name(details, old.end_user, old.pseudonym);
  update public.audit_log
  set before = private.without_name(before, old.end_user, old.pseudonym), after = private.without_name(after, old.end_user, old.pseudonym)
  where workspace_id = old.workspace_id and (
    before is distinct from private.without_name(before, old.end_user, old.pseudonym)
    or after is distinct from private.without_name(after, old.end_user, old.pseudonym)
  );
  return new;
end
$function$;
revoke execute on function private.erase_name_in_texts() from public;

create trigger erasures_leave_no_name_in_texts before update of status on public.erasures
  for each row when (new.status = 'done' and old.status <> 'done') execute function private.erase_name_in_texts();

-- The request of an idempotency key without a person: null in the place of the name, which a retry may have. An e-mail address
-- is the same in any letter case.
create or replace function private.without_person(request jsonb, name text)
 returns jsonb
 language plpgsql
 immutable
 set search_path to ''
as $function$
begin
  if private.is_person(request #>> '{message,user}', name) then
    request := jsonb_set(request, '{message,user}', 'null');
  end if;
  if jsonb_typeof(request #> '{message,items}') = 'array' then
    request := jsonb_set(request, '{message,items}', (
      select jsonb_agg(
        case when private.is_person(item ->> 'user', name) then item || '{"user": null}' else item end
        order by place
      )
      from jsonb_array_elements(request #> '{message,items}') with ordinality as items (item, place)
    ));
  end if;
  return request;
end
$function$;

-- Where a person's name stands, for an admin who is about to have it erased; nothing is changed.
-- returns: { spellings, message_count, budgets, api_keys, alert_count, audit_count, tags }; `tags` stay as they are
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
    'tags', (
      select coalesce(jsonb_agg(distinct t.value), '[]') from public.daily_totals as t
      where t.workspace_id = workspace and t.dimension = 'tag' and t.value ~ pattern
    )
  );
end
$function$;
revoke execute on function private.find_person(uuid, text) from public;
grant execute on function private.find_person(uuid, text) to outlay_service, service_role;
