import pg from "pg";
import type { TestDatabase } from "./database";
import type { Fixtures } from "./keys";

/**
 * Lets a test set the clock of its database: every function and view of the product that asks for the time asks a table of the
 * test instead. Nothing in the product knows of it; only the copies in this database are changed.
 * @param fixtures set the clock over their connection, because a login for each move takes longer than most statements
 * @returns a function that sets the clock
 */
export async function moveClock(
  { superuserUrl }: TestDatabase,
  { sql: admin }: Fixtures,
): Promise<(at: Date) => Promise<void>> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query(`
      create schema test_clock;
      create table test_clock.present (at timestamptz not null);
      insert into test_clock.present values (now());
      create function test_clock.now() returns timestamptz language sql stable security definer
        as 'select at from test_clock.present';
      grant usage on schema test_clock to public;
      grant all on test_clock.present to postgres`);
    const { rows: functions } = await client.query<{ text: string }>(
      `select pg_get_functiondef(p.oid) as text from pg_proc as p
       where pronamespace = 'private'::regnamespace and prokind = 'f'`,
    );
    const { rows: views } = await client.query<{ name: string; text: string; options: string }>(
      `select c.oid::regclass::text as name, pg_get_viewdef(c.oid) as text, array_to_string(c.reloptions, ', ') as options
       from pg_class as c where relnamespace = 'public'::regnamespace and relkind = 'v'`,
    );
    for (const { text } of functions) if (asksForTime(text)) await client.query(withTestClock(text));
    for (const { name, text, options } of views) {
      if (!asksForTime(text)) continue;
      await client.query(`create or replace view ${name} with (${options}) as ${withTestClock(text)}`);
    }
  } finally {
    await client.end();
  }
  return async (at) => void (await admin.query("update test_clock.present set at = $1", [at]));
}

const time = /\b(?:clock_timestamp|now)\(\)/g;
const asksForTime = (text: string) => text.search(time) >= 0;
const withTestClock = (text: string) => text.replace(time, "test_clock.now()");
