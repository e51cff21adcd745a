-- An earlier version's functions go before the files after this one make them anew: `create or replace` neither changes
-- what a function returns nor takes away one that is no longer there. No table depends on them.
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

-- What an earlier version counted attempts in; `private.throttle_windows` has them now.
drop table if exists local_auth.attempts;

reset role;
