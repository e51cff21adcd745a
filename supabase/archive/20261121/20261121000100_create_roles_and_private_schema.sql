-- Two roles of our own beside Supabase's, and the schema that no API role can reach.
--
-- outlay_key      what an API key's reads run as. It owns nothing and bypasses nothing: its policies admit only the
--                 workspace, environment and projects named in the transaction's `request.api_key` claims.
-- outlay_service  what the service logs in as where a login of its own can be made (the embedded database always;
--                 elsewhere `alter role outlay_service login password '…'`). NOINHERIT and without BYPASSRLS: it may
--                 run the few functions granted to it by name, and become a user or a key, never the service role.
do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'outlay_key') then
    create role outlay_key nologin noinherit;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'outlay_service') then
    create role outlay_service nologin noinherit;
  end if;
end
$$;

grant outlay_key to postgres;
grant outlay_service to postgres;
grant outlay_key, authenticated, anon to outlay_service;

create schema private;
revoke all on schema private from public;
grant usage on schema private to outlay_service, service_role;
grant usage on schema public to outlay_key, outlay_service;

comment on schema private is 'Secrets, admission state and functions of the service; no API role may use it.';

-- PUBLIC may execute every new function by default. Here it may not: each grant is made by name.
alter default privileges revoke execute on functions from public;
