import type { ClientBase } from "pg";

/** Who may do what, of an access list, as `grantee=privileges`: the owner and Postgres's defaults included. */
const rights = (list: string, kind: string, owner: string) => `(
  select string_agg(format('%s=%s', grantee, privileges), ' ' order by grantee) from (
    select case grantee when 0 then 'public' else grantee::regrole::text end as grantee,
      string_agg(privilege_type || case when is_grantable then '*' else '' end, ',' order by privilege_type) as privileges
    from aclexplode(coalesce(${list}, acldefault('${kind}', ${owner}))) group by grantee
  ) as granted
)`;

const ours = "('public'::regnamespace, 'private'::regnamespace)";
/** Partitions are made with the first row of their month. */
const tables = `(select * from pg_class where relnamespace in ${ours} and not relispartition)`;
const position =
  "(select count(*) from pg_attribute as b where b.attrelid = a.attrelid and b.attnum <= a.attnum and b.attnum > 0 and not b.attisdropped)";

// A membership counts once, whoever granted it: the cluster's roles are shared with databases that others migrate at the same time.
const query = `
select 'role' as kind, rolname::text as name, concat_ws(' ', rolinherit, rolcreaterole, rolcreatedb, rolbypassrls, rolsuper,
  (select string_agg(distinct format('in %s inherit %s set %s admin %s', roleid::regrole, inherit_option, set_option, admin_option), ', ')
   from pg_auth_members where member = r.oid),
  (select string_agg(array_to_string(setconfig, ', '), ' ') from pg_db_role_setting where setrole = r.oid)) as definition
from pg_roles as r where rolname like 'outlay\\_%'
union all
select 'schema', nspname, concat_ws(' ', nspowner::regrole, ${rights("nspacl", "n", "nspowner")}, obj_description(oid, 'pg_namespace'))
from pg_namespace where oid in ${ours}
union all
select 'default privileges', concat_ws(' ', defaclrole::regrole, nullif(defaclnamespace, 0)::regnamespace, defaclobjtype), defaclacl::text
from pg_default_acl where defaclrole = 'postgres'::regrole
union all
select 'relation', c.oid::regclass::text, concat_ws(' ', relkind, relowner::regrole, relpersistence, relrowsecurity, relforcerowsecurity, relreplident,
  array_to_string(reloptions, ','), case relkind when 'p' then pg_get_partkeydef(c.oid) when 'v' then pg_get_viewdef(c.oid) end,
  ${rights("relacl", "r", "relowner")}, obj_description(c.oid, 'pg_class'))
from ${tables} as c where relkind in ('r', 'p', 'v', 'm', 'f', 'c')
union all
select 'sequence', c.oid::regclass::text, concat_ws(' ', relowner::regrole, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle,
  ${rights("relacl", "s", "relowner")}, (select refobjid::regclass from pg_depend where objid = c.oid and classid = 'pg_class'::regclass and deptype in ('a', 'i') limit 1))
from ${tables} as c join pg_sequence on seqrelid = c.oid
union all
select 'column', format('%s.%I', c.oid::regclass, attname), concat_ws(' ', 'at ' || ${position}, format_type(atttypid, atttypmod),
  case when attnotnull then 'not null' end, nullif(attidentity, ''), nullif(attgenerated, ''), pg_get_expr(adbin, adrelid), nullif(attcollation, 100), attstorage,
  nullif(attcompression, ''), nullif(attstattarget, -1), case when attacl is not null then ${rights("attacl", "c", "relowner")} end, col_description(c.oid, attnum))
from ${tables} as c join pg_attribute as a on attrelid = c.oid left join pg_attrdef on adrelid = c.oid and adnum = attnum
where relkind in ('r', 'p', 'v', 'm', 'f', 'c') and attnum > 0 and not attisdropped
union all
select 'constraint', format('%s: %I', c.oid::regclass, conname), concat_ws(' ', pg_get_constraintdef(k.oid), convalidated, connoinherit, obj_description(k.oid, 'pg_constraint'))
from ${tables} as c join pg_constraint as k on conrelid = c.oid
union all
select 'index', indexrelid::regclass::text, concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisunique, indisprimary, indisreplident, obj_description(indexrelid, 'pg_class'))
from ${tables} as c join pg_index on indrelid = c.oid
union all
select 'policy', format('%s: %I', c.oid::regclass, polname), concat_ws(' ', polcmd, polpermissive,
  (select string_agg(case role when 0 then 'public' else role::regrole::text end, ',' order by role::regrole::text) from unnest(polroles) as role),
  'using ' || pg_get_expr(polqual, polrelid), 'check ' || pg_get_expr(polwithcheck, polrelid), obj_description(p.oid, 'pg_policy'))
from ${tables} as c join pg_policy as p on polrelid = c.oid
union all
select 'trigger', format('%s: %I', tgrelid::regclass, tgname), concat_ws(' ', pg_get_triggerdef(t.oid), tgenabled)
from pg_trigger as t join pg_proc as f on f.oid = tgfoid join pg_class as c on c.oid = tgrelid
where not tgisinternal and tgparentid = 0 and (pronamespace in ${ours} or relnamespace in ${ours})
union all
select 'function', p.oid::regprocedure::text, concat_ws(' ', pg_get_functiondef(p.oid), proowner::regrole, ${rights("proacl", "f", "proowner")}, obj_description(p.oid, 'pg_proc'))
from pg_proc as p where pronamespace in ${ours} and prokind in ('f', 'p') and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
union all
select 'type', t.oid::regtype::text, concat_ws(' ', typtype, typowner::regrole, nullif(typbasetype, 0)::regtype, typdefault, typnotnull,
  (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid), (select string_agg(pg_get_constraintdef(oid), ' ') from pg_constraint where contypid = t.oid),
  ${rights("typacl", "T", "typowner")}, obj_description(t.oid, 'pg_type'))
from pg_type as t where typnamespace in ${ours} and (typrelid = 0 and typelem = 0 or (select relkind from pg_class where oid = typrelid) = 'c')
union all
select 'statistics', stxname::text, pg_get_statisticsobjdef(oid) from pg_statistic_ext where stxnamespace in ${ours}
union all
select 'aggregate', oid::regprocedure::text, null from pg_proc where pronamespace in ${ours} and prokind = 'a'`;

/**
 * Lists every object of the schemas `public` and `private`, and what the roles of the service may do: a line for each
 * column, constraint, index, policy, trigger, function and so on, sorted. Two databases with the same lines have the same
 * schema. Partitions are left out.
 * @param client may read the catalogue; its `search_path` is changed.
 * @param isOrdered whether the order of the columns of a table counts
 */
export async function readCatalogue(client: ClientBase, isOrdered = true): Promise<string[]> {
  // Postgres then writes every name with its schema.
  await client.query("set search_path = ''");
  const { rows } = await client.query<{ kind: string; name: string; definition: string | null }>(query);
  return rows
    .map(({ kind, name, definition }) => `${kind} ${name}: ${definition ?? ""}`)
    .map((line) => (isOrdered ? line : line.replace(/^(column \S+:) at \d+/, "$1")))
    .sort();
}
