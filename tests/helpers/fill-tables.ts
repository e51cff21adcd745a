import pg from "pg";
import type { TestDatabase } from "./database";

/** A value for a column that must have one, by its type. */
const values: Record<string, string> = {
  uuid: "gen_random_uuid()",
  text: "'x'",
  "text[]": "array['x']",
  bytea: "decode(md5(random()::text), 'hex')",
  jsonb: "'{}'",
  date: "'2026-11-02'",
  "timestamp with time zone": "now()",
  "time without time zone": "'09:00'",
  boolean: "false",
};

/**
 * Adds a row of the workspace to each table that has none, past constraints and triggers, so that no table is forgotten. The database
 * has fewer constraints after it: for files with one of their own.
 */
export async function fillTables(
  { superuserUrl }: TestDatabase,
  { workspace, memberId, keyId }: { workspace: string; memberId: string; keyId: string },
): Promise<void> {
  const superuser = new pg.Client({ connectionString: superuserUrl });
  await superuser.connect();
  await superuser.query("set session_replication_role = replica");
  const { rows: tables } = await superuser.query(
    `select c.oid::regclass::text as name, (
       select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)))
       from pg_attribute as a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attnotnull and (not a.atthasdef or a.atttypid = 'uuid'::regtype)
         and a.attidentity = '' and a.attname <> 'workspace_id'
     ) as columns, (
       select json_agg(k.conname) from pg_constraint as k where k.conrelid = c.oid and k.contype = 'c'
     ) as checks
     from pg_class as c
     join pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
     where c.relkind = 'r' and not c.relispartition and c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  for (const { name, columns, checks } of tables) {
    const { rows: hits } = await superuser.query(`select from ${name} where workspace_id = $1 limit 1`, [
      workspace,
    ]);
    if (hits.length > 0) continue;
    for (const check of checks ?? []) await superuser.query(`alter table ${name} drop constraint ${check}`);
    const needed: { name: string; type: string }[] = columns ?? [];
    // What refers to a member or a key goes with them.
    const known: Record<string, string> = {
      user_id: `'${memberId}'`,
      ...(name === "connections" && { id: `'${keyId}'` }),
    };
    const sampleOf = (type: string) => (type.endsWith("[]") ? "'{}'" : (values[type] ?? "0"));
    const cells = needed.map(({ name: column, type }) => known[column] ?? sampleOf(type));
    await superuser.query(
      `insert into ${name} (${["workspace_id", ...needed.map((column) => column.name)]}) values (${["$1", ...cells]})`,
      [workspace],
    );
  }
  await superuser.end();
}
