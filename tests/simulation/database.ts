import pg from "pg";
import { inject } from "vitest";
import { copyTemplate, hashQuickly, type TestDatabase } from "@/tests/helpers/cluster";
import { createTestDatabase } from "@/tests/helpers/database";
import { Fixtures } from "@/tests/helpers/keys";
import { moveClock } from "@/tests/helpers/moved-clock";

/** A fault that is planted into a function of the database. */
export type SqlFault = { routine: string; replace: string; by: string };

/** Has a database take its time from the simulation and its ids from a sequence, also in the defaults of columns. */
const makeRepeatable = `
  create sequence test_clock.ids;
  create function test_clock.uuid() returns uuid language sql volatile security definer
    as $$ select overlay(overlay(md5('id ' || nextval('test_clock.ids')) placing '4' from 13) placing '8' from 17)::uuid $$;
  do $$
  declare each record;
  begin
    for each in
      select c.oid::regclass as of, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as text
      from pg_attrdef as d join pg_class as c on c.oid = d.adrelid
      join pg_attribute as a on a.attrelid = d.adrelid and a.attnum = d.adnum
      where a.attgenerated = '' and pg_get_expr(d.adbin, d.adrelid) ~ '(now|clock_timestamp|gen_random_uuid)\\(\\)'
    loop
      execute format('alter table only %s alter column %I set default %s', each.of, each.name,
        regexp_replace(regexp_replace(each.text, '\\m(clock_timestamp|now)\\(\\)', 'test_clock.now()', 'g'),
          '\\mgen_random_uuid\\(\\)', 'test_clock.uuid()', 'g'));
    end loop;
    for each in
      select pg_get_functiondef(p.oid) as text from pg_proc as p
      where pronamespace in ('private'::regnamespace, 'local_auth'::regnamespace) and prokind = 'f'
        and prosrc ~ '\\m(now|clock_timestamp|gen_random_uuid)\\(\\)'
    loop
      execute regexp_replace(regexp_replace(each.text, '(?<!test_clock\\.)\\m(clock_timestamp|now)\\(\\)', 'test_clock.now()', 'g'),
        '\\mgen_random_uuid\\(\\)', 'test_clock.uuid()', 'g');
    end loop;
    execute format('alter database %I set deadlock_timeout = ''1ms''', current_database());
  end $$`;

/**
 * Makes a database to copy simulations' databases from.
 * @throws Error if a function does not have the text that a fault replaces exactly once
 */
export async function createSimulated(faults: readonly SqlFault[]): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await hashQuickly(database);
  const fixtures = new Fixtures(database.adminUrl);
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  try {
    for (const { routine, replace, by } of faults) {
      const { rows } = await client.query<{ text: string }>(
        "select pg_get_functiondef($1::regproc) as text",
        [routine],
      );
      const text = rows[0]?.text ?? "";
      if (text.split(replace).length !== 2)
        throw new Error(`${routine} does not have this text exactly once: ${replace}`);
      await client.query(text.replace(replace, () => by));
    }
    await moveClock(database, fixtures);
    // Vacuuming takes locks, and chooses other plans, at times of its own.
    await client.query("alter system set autovacuum = off");
    await client.query("select pg_reload_conf()");
    await client.query(makeRepeatable);
  } finally {
    await client.end();
    await fixtures.close();
  }
  return database;
}

/** A copy of the database that `createSimulated` made. */
export async function copySimulated(template: TestDatabase): Promise<TestDatabase> {
  const copy = await copyTemplate(inject("cluster"), new URL(template.url).pathname.slice(1));
  const client = new pg.Client({ connectionString: copy.superuserUrl });
  await client.connect();
  await client.query(`alter database ${new URL(copy.url).pathname.slice(1)} set deadlock_timeout = '1ms'`);
  await client.end();
  return copy;
}
