-- The service's own roles beside Supabase's, and the schema that no API role can reach.
--
-- outlay_key      the role of an API key's reads. It owns nothing and bypasses nothing: its policies admit only the
--                 workspace, environment and projects named in the transaction's `request.api_key` claims.
-- outlay_service  the service's login, where a login of its own can be created (always in the embedded database;
--                 elsewhere `alter role outlay_service login password '…'`). NOINHERIT and without BYPASSRLS: it can
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

-- The service closes its connection when a statement takes too long. Postgres must then end the statement, instead of
-- letting it wait for a lock while it holds others, so it checks from time to time whether the client is still connected.
-- Some platforms cannot check this (before Postgres 14, on Windows); there, the statement's own time limit ends it.
do $$
begin
  alter role outlay_service set statement_timeout = '60s';
  alter role outlay_service set client_connection_check_interval = '2s';
exception when others then
  raise notice 'outlay_service keeps its defaults: %', sqlerrm;
end
$$;

create schema private;
revoke all on schema private from public;
grant usage on schema private to outlay_service, service_role;
grant usage on schema public to outlay_key, outlay_service;

comment on schema private is 'Secrets, admission state and functions of the service; no API role may use it.';

-- By default PUBLIC may execute every new function. This revokes that: each grant is made by name.
alter default privileges revoke execute on functions from public;
