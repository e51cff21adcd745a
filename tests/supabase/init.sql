-- What the init scripts of a Supabase project's database set up, as far as Supabase Auth and Outlay depend on it, written from
-- their description. It follows the roles and schemas of supabase/bootstrap (10 and 20). Where projects differ by age, it has
-- the older and wider grants, under which our own must still hold. Supabase Auth creates the tables and functions of `auth`.
alter role supabase_auth_admin login noinherit createrole;
alter role supabase_auth_admin set search_path = 'auth';
create role dashboard_user nologin createdb createrole replication;

do $$
begin
  execute format('grant create on database %I to supabase_auth_admin', current_database());
end
$$;
grant all on schema auth to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth grant all on tables to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth grant all on sequences to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth grant all on routines to postgres, dashboard_user;

-- Projects made before 2026 grant the API roles everything that is created in `public`.
alter default privileges for role postgres in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on functions to anon, authenticated, service_role;

alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
