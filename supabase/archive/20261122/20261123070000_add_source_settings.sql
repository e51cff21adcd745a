-- How what a program sends with a key is attributed: which attributes name project, feature and tags, whether the emitter's cost
-- counts, and whether a subscription covers it. Null for a key that nobody set up as a source.

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
revoke all on function private.are_source_settings(jsonb) from public;
grant execute on function private.are_source_settings(jsonb) to authenticated, outlay_service, service_role;

alter table public.api_keys add column source_settings jsonb
  constraint api_keys_source_settings_are_known check (private.are_source_settings(source_settings));

-- The policies of keys hold: members change the keys they made, admins all. Triggers write the audit log.
grant insert (source_settings), update (source_settings) on public.api_keys to authenticated;

