import pg from "pg";
import type { TestDatabase } from "./database";

/** The tables of every schema that have a row with this text in a value, sorted by name. */
export async function tablesWith(database: TestDatabase, text: string): Promise<string[]> {
  const superuser = new pg.Client({ connectionString: database.superuserUrl });
  await superuser.connect();
  const { rows: tables } = await superuser.query(
    `select c.oid::regclass::text as name from pg_class as c
     where c.relkind = 'r' and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const query = `select from ${name} as t where to_jsonb(t)::text like '%' || $1 || '%' limit 1`;
    if ((await superuser.query(query, [text])).rows.length > 0) found.push(name);
  }
  await superuser.end();
  return found.sort();
}
