-- Drops the functions of an earlier version before the following files create them again: `create or replace` cannot
-- change what a function returns, and does not drop functions that no longer exist. No table depends on them.
set local role supabase_auth_admin;

do $$
declare
  outdated text;
begin
  for outdated in
    select p.oid::regprocedure::text from pg_catalog.pg_proc as p
    where p.pronamespace = 'local_auth'::regnamespace
  loop
    execute 'drop function ' || outdated;
  end loop;
end
$$;

-- The table in which an earlier version counted attempts; `private.throttle_windows` replaced it.
drop table if exists local_auth.attempts;

reset role;
