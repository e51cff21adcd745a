-- What the conditions and settings of an API key may hold.

-- A key may be limited to some users: it records for them alone, and reads only what was recorded for them.
-- These checks apply to every writer of the row: one value that the guard cannot read would fail all calls of the same
-- group.
--
-- Whether these are conditions as the guard reads them: lists of names, and nothing else.
create function private.are_key_conditions(conditions jsonb)
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
grant execute on function private.are_key_conditions(jsonb) to authenticated, outlay_service, service_role;

-- Whether each of these is an address or a range of addresses.
create function private.are_addresses(list text[])
returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  perform entry::inet from unnest(list) as entry;
  return cardinality(list) <= 100 and array_position(list, null) is null;
exception when invalid_text_representation then
  return false;
end
$$;
grant execute on function private.are_addresses(text[]) to authenticated, outlay_service, service_role;

-- Whether these are a source's settings as the service reads them.
create function private.are_source_settings(settings jsonb)
returns boolean
language sql immutable set search_path = ''
as $$
  select jsonb_typeof(settings) = 'object' and coalesce((
    select bool_and(case
      when name in ('program', 'project_attribute', 'default_project', 'feature_attribute', 'default_feature')
        then jsonb_typeof(value) = 'string' and char_length(value #>> '{}') between 1 and 128
      when name in ('trusted_cost', 'subscription_covered') then jsonb_typeof(value) = 'boolean'
      when name = 'tags' then jsonb_typeof(value) = 'array' and jsonb_array_length(value) <= 10 and not exists (
        select from jsonb_array_elements(value) as tag
        where case when jsonb_typeof(tag) = 'object' then
          coalesce(jsonb_typeof(tag -> 'name') <> 'string' or jsonb_typeof(tag -> 'attribute') <> 'string'
            or char_length(tag ->> 'name') not between 1 and 64 or char_length(tag ->> 'attribute') not between 1 and 128
            or tag - 'name' - 'attribute' <> '{}', true)
        else true end
      )
      else false
    end)
    from jsonb_each(case when jsonb_typeof(settings) = 'object' then settings else '{}' end) as members (name, value)
  ), true)
$$;
grant execute on function private.are_source_settings(jsonb) to authenticated, outlay_service, service_role;
