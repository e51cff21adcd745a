-- The roles every Supabase project has. Roles belong to the whole cluster while this file runs once a database, so
-- each is made only where it is missing, and an existing one keeps its attributes and its password.
do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      -- Migrations run as this one. Not a superuser, as on hosted Supabase: what needs more fails here too.
      ('postgres', 'login nosuperuser createdb createrole replication bypassrls'),
      ('anon', 'nologin noinherit'),
      ('authenticated', 'nologin noinherit'),
      ('service_role', 'nologin noinherit bypassrls'),
      ('authenticator', 'login noinherit'),
      ('supabase_auth_admin', 'nologin noinherit')
    ) as roles (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.attributes);
    end if;
  end loop;

  for wanted in
    select * from (values
      ('anon', 'authenticator', ''),
      ('authenticated', 'authenticator', ''),
      ('service_role', 'authenticator', ''),
      -- With admin option: migrations may grant these to roles of their own.
      ('anon', 'postgres', ' with admin option'),
      ('authenticated', 'postgres', ' with admin option'),
      ('service_role', 'postgres', ' with admin option')
    ) as grants (name, member, options)
  loop
    if not exists (
      select from pg_catalog.pg_auth_members
      where roleid = wanted.name::regrole and member = wanted.member::regrole
    ) then
      execute format('grant %I to %I%s', wanted.name, wanted.member, wanted.options);
    end if;
  end loop;
end
$$;
