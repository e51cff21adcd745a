-- What a key may hold, for whoever writes the row: a value that the guard cannot read would refuse its neighbours' calls
-- in the same group, too.

-- Whether these are conditions as the guard reads them: lists of names, and nothing else.
create function private.are_key_conditions(conditions jsonb)
returns boolean
language sql immutable set search_path = ''
as $$
  select coalesce(bool_and(
    name in ('project_slugs', 'deny_project_slugs', 'features', 'sources')
    and jsonb_typeof(list) = 'array'
    and jsonb_array_length(list) <= 100
    and not exists (
      select from jsonb_array_elements(list) as item
      where jsonb_typeof(item) <> 'string' or char_length(item #>> '{}') not between 1 and 128
    )
    and (name <> 'sources' or list <@ '["api", "mcp", "manual", "import"]')
  ), true)
  from (
    select name, case when jsonb_typeof(list) = 'array' then list else '[null]' end as list
    from jsonb_each(conditions) as members (name, list)
  ) as members
$$;

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

revoke all on function private.are_key_conditions(jsonb), private.are_addresses(text[]) from public;
-- A constraint asks as whoever writes the row, who may not name this schema.
grant execute on function private.are_key_conditions(jsonb), private.are_addresses(text[])
  to authenticated, outlay_service, service_role;

alter table public.api_keys
  add constraint api_keys_conditions_are_lists check (private.are_key_conditions(conditions)),
  add constraint api_keys_allowed_cidrs_are_addresses check (private.are_addresses(allowed_cidrs)),
  -- Neither NaN nor infinity, and nothing that a response could not write.
  add constraint api_keys_monthly_limit_is_money check (monthly_limit < 1e15 and scale(monthly_limit) <= 18),
  add constraint api_keys_expires_at_is_a_moment check (expires_at > '-infinity' and expires_at < '10000-01-01T00:00:00Z');
