import type { ClientBase } from "pg";

const header = `-- The schema as the migrations make it, in alphabetical order: for reading, not for running.
-- Generated: after a change of a migration, \`npm run schema\` writes this file again. tests/db/schema.test.ts compares the two.
--
-- Whatever no grant names is not allowed. Everything belongs to the role that runs the migrations.`;

/** A table. What is SQL in it is as Postgres writes it. */
type Relation = {
  name: string;
  columns: string[];
  constraints: string[];
  partition_key: string | null;
  has_row_security: boolean;
  comments: string[];
  indexes: string[];
  grants: string[];
  policies: string[];
  triggers: string[];
};

type Routine = { name: string; definition: string; grants: string | null };

/**
 * Writes down the schemas `public` and `private` of a migrated database as SQL: roles, tables with their constraints,
 * indexes, grants, policies and triggers, then functions. The same schema always gives the same text, on Postgres 17.
 * @param client may read the catalogue; its `search_path` is changed.
 */
export async function describeSchema(client: ClientBase): Promise<string> {
  // Postgres then writes every name with its schema.
  await client.query("set search_path = ''");
  const comments = await readComments(client);
  const { rows: roles } = await client.query<{ statement: string }>(rolesQuery);
  const { rows: relations } = await client.query<Relation>(relationsQuery);
  const { rows: triggers } = await client.query<{ statement: string }>(foreignTriggersQuery);
  const { rows: routines } = await client.query<Routine>(routinesQuery);
  const parts = [
    header,
    title("Roles and schemas"),
    statements(roles.map(({ statement }) => statement)),
    ...relations.flatMap((relation) => [title(relation.name), describeRelation(relation, comments)]),
    title("Triggers on tables of others"),
    statements(triggers.map(({ statement }) => statement)),
    title("Functions"),
    ...routines.map((routine) => describeRoutine(routine, comments)),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function title(name: string): string {
  return `-- ${name} ${"-".repeat(Math.max(4, 116 - name.length))}`;
}

function describeRelation(relation: Relation, comments: Map<string, string>): string {
  const { name, partition_key, has_row_security, policies } = relation;
  const lines = [...relation.columns, ...relation.constraints].map((line) => `  ${line}`).join(",\n");
  const partitions = partition_key ? ` partition by ${partition_key}` : "";
  const security = has_row_security ? [`alter table ${name} enable row level security`] : [];
  const groups = [
    [`create table ${name} (\n${lines}\n)${partitions}`, ...relation.comments],
    relation.indexes,
    [...security, ...relation.grants],
    ...policies.map((policy) => [policy]),
    relation.triggers,
  ];
  return (comments.get(`table ${name}`) ?? "") + groups.map(statements).filter(Boolean).join("\n\n");
}

function describeRoutine({ name, definition, grants }: Routine, comments: Map<string, string>): string {
  const [head, ...body] = definition.trimEnd().split("\nAS ");
  const made = `${comments.get(`function ${name}`) ?? ""}${plain(head ?? "")}\nas ${body.join("\nAS ")};`;
  return grants ? `${made}\n${statements([grants])}` : made;
}

/** Statements a line each, "" for none. */
function statements(list: string[]): string {
  return list.map((statement) => `${plain(statement)};`).join("\n");
}

/** SQL as people write it: in lower case outside quotes, without the casts and aliases that Postgres adds. */
function plain(sql: string): string {
  return sql
    .replaceAll(/('(?:[^']|'')*'|"[^"]*")|[^'"]+/g, (text, quoted) => (quoted ? text : text.toLowerCase()))
    .replaceAll(/('(?:[^']|'')*')::text(?!\[)/g, "$1")
    .replaceAll(/\( ?\( select ([\w.]+\([^()]*\)) as \w+\)\)/g, "(select $1)")
    .replaceAll(/\( select ([\w.]+\([^()]*\)) as \w+\)/g, "(select $1)")
    .replaceAll("timestamp with time zone", "timestamptz")
    .replaceAll("delete, insert, maintain, references, select, trigger, truncate, update", "all");
}

/**
 * The comment before the latest statement that made each table and function, as "table public.projects" or "function
 * private.load_prices" → lines that end with a line break. Postgres keeps none of them; the record of migrations does.
 */
async function readComments(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ statement: string }>(
    `select statement from supabase_migrations.schema_migrations as migration,
       unnest(migration.statements) with ordinality as made (statement, place)
     order by migration.version, made.place`,
  );
  const comments = new Map<string, string>();
  for (const { statement } of rows) {
    const made = /^((?:--.*\n|\n)*)create (?:or replace )?(table|function) ([a-z_.]+)/.exec(statement);
    // What an empty line separates from the statement is about more than it.
    const comment = made?.[1]?.split("\n\n").at(-1);
    if (comment) comments.set(`${made?.[2]} ${made?.[3]}`, comment);
  }
  return comments;
}

/** Who has which privileges in an access list, beside its owner: "select, insert" and "authenticated, outlay_key". */
const granteesOf = (acl: string) => `
  select privileges, string_agg(grantee, ', ' order by grantee) as grantees
  from (
    select
      case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end as grantee,
      string_agg(lower(acl.privilege_type), ', ' order by acl.privilege_type) as privileges
    from aclexplode(${acl}) as acl
    where acl.grantee <> acl.grantor
    group by acl.grantee
  ) as by_grantee
  group by privileges`;

const rolesQuery = `
  -- Whether a role may log in depends on the deployment.
  select format('create role %s%s', rolname, case when rolinherit then '' else ' noinherit' end) as statement, 1 as place
  from pg_roles where rolname like 'outlay\\_%'
  union all
  select format('grant %s to %s', string_agg(distinct roleid::regrole::text, ', ' order by roleid::regrole::text), member::regrole), 2
  from pg_auth_members
  where (roleid::regrole::text like 'outlay\\_%' and member::regrole::text = 'postgres')
    or member::regrole::text like 'outlay\\_%'
  group by member
  union all
  select format('alter role %s set %s', setrole::regrole, setting), 3
  from pg_db_role_setting cross join unnest(setconfig) as setting
  where setrole <> 0 and setrole::regrole::text like 'outlay\\_%'
  union all
  select 'create schema private', 4
  union all
  select format('comment on schema %s is %L', nspname, obj_description(oid, 'pg_namespace')), 5
  from pg_namespace where nspname = 'private'
  union all
  select format('grant %s on schema %s to %s', privileges, nspname, grantees), 6
  from pg_namespace cross join lateral (${granteesOf("nspacl")}) as granted
  where nspname in ('public', 'private')
  union all
  select format('alter default privileges revoke execute on functions from public'), 7
  from pg_default_acl
  where defaclobjtype = 'f' and not exists (select from aclexplode(defaclacl) as acl where acl.grantee = 0)
  order by place, statement`;

const relationsQuery = `
  select
    c.oid::regclass::text as name,
    case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partition_key,
    c.relrowsecurity as has_row_security,
    array(
      select concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end, 'default ' || pg_get_expr(d.adbin, d.adrelid, true))
      from pg_attribute as a
      left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      order by a.attnum
    ) as columns,
    array(
      select format('constraint %I %s', conname, pg_get_constraintdef(oid, true))
      from pg_constraint
      where conrelid = c.oid and contype in ('p', 'u', 'c', 'f')
      order by array_position('{p,u,c,f}', contype::text), conname
    ) as constraints,
    array(
      select format('comment on column %s.%I is %L', c.oid::regclass, attname, col_description(c.oid, attnum))
      from pg_attribute
      where attrelid = c.oid and attnum > 0 and col_description(c.oid, attnum) is not null
      order by attnum
    ) as comments,
    array(
      select pg_get_indexdef(indexrelid) from pg_index
      where indrelid = c.oid and not exists (
        select from pg_constraint where conindid = indexrelid and conrelid = c.oid and contype in ('p', 'u')
      )
      order by indexrelid::regclass::text
    ) as indexes,
    array(
      select format('grant %s on %s to %s', privileges, c.oid::regclass, grantees)
      from (${granteesOf("c.relacl")}) as granted
      order by grantees, privileges
    ) || array(
      select format('grant %s (%s) on %s to %s', lower(privilege_type), columns, c.oid::regclass, grantee)
      from (
        select acl.privilege_type, acl.grantee::regrole::text as grantee,
          string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
        from pg_attribute as a cross join aclexplode(a.attacl) as acl
        where a.attrelid = c.oid
        group by acl.privilege_type, acl.grantee
      ) as granted
      order by grantee, privilege_type
    ) as grants,
    array(
      select concat(
        format(E'create policy %I\\n  on %s', polname, c.oid::regclass),
        case when not polpermissive then ' as restrictive' end,
        ' for ', case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        ' to ', (
          select string_agg(case role when 0 then 'public' else role::regrole::text end, ', ' order by role::regrole::text)
          from unnest(polroles) as role
        ),
        E'\\n  using (' || pg_get_expr(polqual, polrelid, true) || ')',
        E'\\n  with check (' || pg_get_expr(polwithcheck, polrelid, true) || ')'
      )
      from pg_policy where polrelid = c.oid
      order by array_position('{r,a,w,d,*}', polcmd::text), polname
    ) as policies,
    array(
      select pg_get_triggerdef(oid, true) from pg_trigger where tgrelid = c.oid and not tgisinternal order by tgname
    ) as triggers
  from pg_class as c
  where c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relnamespace::regnamespace::text desc, c.relname`;

const foreignTriggersQuery = `
  select pg_get_triggerdef(t.oid, true) as statement
  from pg_trigger as t
  join pg_class as c on c.oid = t.tgrelid
  join pg_proc as p on p.oid = t.tgfoid
  where not t.tgisinternal and p.pronamespace = 'private'::regnamespace
    and c.relnamespace not in ('public'::regnamespace, 'private'::regnamespace)
  order by c.oid::regclass::text, t.tgname`;

const routinesQuery = `
  select
    format('%I.%I', p.pronamespace::regnamespace, p.proname) as name,
    pg_get_functiondef(p.oid) as definition,
    (
      select string_agg(format('grant %s on function %s to %s', privileges, p.oid::regprocedure, grantees), E';\\n' order by grantees)
      from (${granteesOf("coalesce(p.proacl, acldefault('f', p.proowner))")}) as granted
    ) as grants
  from pg_proc as p
  where p.pronamespace in ('public'::regnamespace, 'private'::regnamespace)
    and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
  order by p.pronamespace::regnamespace::text desc, p.proname, p.oid::regprocedure::text`;
