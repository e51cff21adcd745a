-- Erasing a person reaches limits at providers that name them. They are unlinked and stay there, because each of them is read again,
-- with the name, every day.

-- Whether a limit at a provider names a person: a member's, by the provider's id or name of them; any other, where its name or id
-- contains the e-mail address.
create function private.is_limit_of_person(l public.provider_limits, person text)
 returns boolean
 language sql
 stable
 set search_path to ''
as $function$
  select l.kind = 'member' and (private.is_person(l.target, person) or private.is_person(l.target_name, person))
    or position('@' in person) > 0
      and concat_ws(E'\n', l.target, l.target_name) ~ private.pattern_of_person(person)
$function$;

create or replace function private.erase_name_in_texts()
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
  delete from public.provider_limits as l where l.workspace_id = old.workspace_id and private.is_limit_of_person(l, old.end_user);
  update public.audit_log
  set before = private.without_name(before, old.end_user, old.pseudonym), after = private.without_name(after, old.end_user, old.pseudonym)
  where workspace_id = old.workspace_id and (
    before is distinct from private.without_name(before, old.end_user, old.pseudonym)
    or after is distinct from private.without_name(after, old.end_user, old.pseudonym)
  );
  perform private.erase_billed_person(old.workspace_id, old.end_user, old.pseudonym);
  return new;
end
$function$;

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

-- The audit log's entries of such limits have the name in other fields.
create or replace function private.without_name(fields jsonb, name text, pseudonym text)
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
