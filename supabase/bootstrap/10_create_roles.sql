-- The roles that every Supabase project has. Roles belong to the cluster, but this file runs once per database, so it
-- creates only missing roles, and existing ones keep their attributes and passwords.
do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      -- The role of migrations. Not a superuser, as on hosted Supabase, so that a migration that needs one fails here too.
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
      -- With admin option, so that migrations may grant these to roles of their own.
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
