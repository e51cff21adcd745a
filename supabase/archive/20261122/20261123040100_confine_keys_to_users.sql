-- A key may be limited to some users: it records for them alone, and reads only what was recorded for them.
-- These checks apply to every writer of the row: one value that the guard cannot read would fail all calls of the same
-- group.
--
-- Whether these are conditions as the guard reads them: lists of names, and nothing else.
create or replace function private.are_key_conditions(conditions jsonb)
 returns boolean
 language sql
 immutable
 set search_path to ''
as $function$
  select coalesce(bool_and(
    name in ('project_slugs', 'deny_project_slugs', 'features', 'sources', 'users')
    and jsonb_typeof(list) = 'array'
    and jsonb_array_length(list) <= 100
    and not exists (
      select from jsonb_array_elements(list) as item
      where jsonb_typeof(item) <> 'string' or char_length(item #>> '{}') not between 1 and case name when 'users' then 255 else 128 end
    )
    and (name <> 'sources' or list <@ '["api", "mcp", "manual", "import"]')
  ), true)
  from (
    select name, case when jsonb_typeof(list) = 'array' then list else '[null]' end as list
    from jsonb_each(conditions) as members (name, list)
  ) as members
$function$;

-- What the calling key may see, as the guard wrote it into the transaction:
-- { id, workspace_id, environment, allow: [project slug] | null, deny: [project slug], users: [name] | absent }.
-- Security definer, because a policy's functions run as the reader, who has no access to this schema.
create or replace function private.key_claims()
 returns jsonb
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return nullif(current_setting('request.api_key', true), '')::jsonb;
end
$function$;

create or replace function private.key_is_unconfined()
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0
    and jsonb_typeof(claims -> 'users') is distinct from 'array';
end
$function$;

-- The users to whom the key is limited; null where it is not.
create function private.key_users()
returns text[]
language plpgsql stable security definer set search_path = ''
as $$
declare
  users jsonb := private.key_claims() -> 'users';
begin
  return case when jsonb_typeof(users) = 'array' then array(select jsonb_array_elements_text(users)) end;
end
$$;
revoke execute on function private.key_users() from public;
grant execute on function private.key_users() to outlay_key;

-- Whether the key is limited to users and to nothing else.
create function private.key_is_of_users()
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'users') = 'array' and jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0;
end
$$;
revoke execute on function private.key_is_of_users() from public;
grant execute on function private.key_is_of_users() to outlay_key;

create policy "A key of users reads messages of these alone"
  on public.messages as restrictive for select to outlay_key
  using ((select private.key_users()) is null or end_user = any ((select private.key_users())::text[]));
create policy "A key of users reads daily spend of these alone"
  on public.daily_spend as restrictive for select to outlay_key
  using ((select private.key_users()) is null or end_user = any ((select private.key_users())::text[]));

alter policy "A key reads the daily totals whose whole spend it may read" on public.daily_totals
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and case
      when (select private.key_is_unconfined()) then true
      when (select private.key_users()) is not null
        then (select private.key_is_of_users()) and dimension = 'user' and value = any ((select private.key_users())::text[])
      when dimension = 'project' then value::uuid in (select private.key_projects())
      when dimension = 'key' then value = (select private.key_claims() ->> 'id')
      else false
    end
  );
alter policy "A key reads the budgets whose whole spend it may read" on public.budgets
  using (
    workspace_id = (select private.key_workspace())
    and case
      when (select private.key_is_unconfined()) then true
      when (select private.key_users()) is not null
        then (select private.key_is_of_users()) and scope_type = 'user' and scope_value = any ((select private.key_users())::text[])
      when scope_type = 'project' then scope_value::uuid in (select private.key_projects())
      when scope_type = 'key' then scope_value = (select private.key_claims() ->> 'id')
      else false
    end
  );

-- The month's totals of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the current UTC month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create or replace function private.month_totals(callers json)
 returns table(place integer, totals json)
 language plpgsql
 set search_path to ''
 set enable_sort to 'off'
as $function$
#variable_conflict use_column
declare
  first_day date := date_trunc('month', now() at time zone 'UTC');
  until_day date := first_day + interval '1 month';
  caller text;
  caller_place integer := 0;
  workspace uuid;
  in_environment text;
begin
  for caller in select value from json_array_elements_text(callers) loop
    caller_place := caller_place + 1;
    perform set_config('request.api_key', caller, true);
    workspace := private.key_workspace();
    in_environment := private.key_environment();
    -- The totals have no rows by project and person together.
    if private.key_users() is null then
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select value::uuid as project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from public.daily_totals
          where workspace_id = workspace and environment = in_environment and dimension = 'project'
            and day >= first_day and day < until_day
          group by value, type
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    else
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from public.daily_spend
          where workspace_id = workspace and environment = in_environment 
            and day >= first_day and day < until_day
          group by 1, 2
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    end if;
  end loop;
end
$function$;
