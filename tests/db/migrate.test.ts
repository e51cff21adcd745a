import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bootstrapDatabaseAt, ChangedHistoryError, migrate, NewerDatabaseError } from "@/lib/db/migrate";
import { splitSql } from "@/lib/db/split-sql";
import { MigrationError } from "@/lib/db/sql-file";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

const bootstrap = join(projectRoot, "supabase/bootstrap");
let database: TestDatabase;
let directory: string;
let client: Client;

beforeEach(async () => {
  database = await createEmptyDatabase();
  directory = mkdtempSync(join(tmpdir(), "migrations-"));
  client = new Client({ connectionString: database.adminUrl });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await database.drop();
  rmSync(directory, { recursive: true });
});

function write(file: string, sql: string): void {
  writeFileSync(join(directory, file), sql);
}

async function rows(statement: string): Promise<unknown[]> {
  return (await client.query(statement)).rows;
}

const recorded = () =>
  rows("select version, name, statements from supabase_migrations.schema_migrations order by version");

describe("migrate", () => {
  test("Runs migration files in order and records them as the Supabase CLI does", async () => {
    write(
      "20260102000000_fill.sql",
      "insert into steps values ('b');\n-- a note;\ninsert into steps values ('c');",
    );
    write("20260101000000_create_steps.sql", "create table steps (name text);");
    write("README.md", "not a migration");
    expect(await migrate(database.adminUrl, directory)).toEqual([
      "20260101000000_create_steps.sql",
      "20260102000000_fill.sql",
    ]);
    expect(await recorded()).toEqual([
      { version: "20260101000000", name: "create_steps", statements: ["create table steps (name text)"] },
      {
        version: "20260102000000",
        name: "fill",
        statements: ["insert into steps values ('b')", "-- a note;\ninsert into steps values ('c')"],
      },
    ]);
  });

  test("Refuses a database of a newer version and names its unknown migrations", async () => {
    write("20260101000000_create_steps.sql", "create table steps (name text);");
    write("20260102000000_create_more.sql", "create table more (name text);");
    await migrate(database.adminUrl, directory);
    rmSync(join(directory, "20260102000000_create_more.sql"));
    write("20260101500000_create_late.sql", "create table late (name text);");
    const refused = migrate(database.adminUrl, directory);
    await expect(refused).rejects.toBeInstanceOf(NewerDatabaseError);
    await expect(refused).rejects.toThrow(
      /^The database is newer than this version of the service: it has 20260102000000_create_more, which/,
    );
    expect(await rows("select to_regclass('late') as late"), "nothing was applied").toEqual([{ late: null }]);
  });

  test("Refuses a file that sorts before the newest one applied, and applies nothing", async () => {
    write("20260102000000_create_steps.sql", "create table steps (name text);");
    await migrate(database.adminUrl, directory);
    write("20260101000000_create_early.sql", "create table early ();");
    write("20260103000000_create_late.sql", "create table late ();");
    const refused = migrate(database.adminUrl, directory);
    await expect(refused).rejects.toBeInstanceOf(ChangedHistoryError);
    await expect(refused).rejects.toThrow(
      "20260101000000_create_early.sql sorts before 20260102000000_create_steps.sql",
    );
    expect(await rows("select to_regclass('early') as early, to_regclass('late') as late")).toEqual([
      { early: null, late: null },
    ]);
  });

  test("Refuses a file that was edited after it was applied, and takes one with other comments", async () => {
    write("1_create_steps.sql", "create table steps (name text);\ninsert into steps values ('a;b');");
    await migrate(database.adminUrl, directory);
    // As the Supabase CLI records statements: with their semicolons, or the whole file as one.
    for (const recordedAs of [
      "array['create table steps (name text);', 'insert into steps values (''a;b'');']",
      "array['create table steps (name text); insert into steps values (''a;b'')']",
      "null",
    ]) {
      await client.query(`update supabase_migrations.schema_migrations set statements = ${recordedAs}`);
      write(
        "1_create_steps.sql",
        "-- Steps.\ncreate table steps (\n  name text\n);\n\ninsert into steps values ('a;b');\n",
      );
      expect(await migrate(database.adminUrl, directory)).toEqual([]);
    }
    await client.query(
      "update supabase_migrations.schema_migrations set statements = array['create table steps (name text)', 'insert into steps values (''a;b'')']",
    );
    write("1_create_steps.sql", "create table steps (name text);\ninsert into steps values ('c');");
    write("2_create_late.sql", "create table late ();");
    const refused = migrate(database.adminUrl, directory);
    await expect(refused).rejects.toBeInstanceOf(ChangedHistoryError);
    await expect(refused).rejects.toThrow("1_create_steps.sql is not what the database ran as 1.");
    expect(await rows("select to_regclass('late') as late")).toEqual([{ late: null }]);
  });

  test("Takes a database that ran a migration in the form in which it landed first", async () => {
    const file = "20261124115450_give_budgets_receivers.sql";
    const present = readFileSync(join(projectRoot, "supabase/migrations", file), "utf8");
    const landed = present.replace(
      /^-- Postgres refuses[\s\S]*?add constraint/,
      `alter table public.budgets add column warned_people uuid[] not null default '{}',
         add column warned_channels uuid[] not null default '{}', add constraint`,
    );
    write(file, present);
    await client.query(`create schema supabase_migrations;
      create table supabase_migrations.schema_migrations (version text not null primary key, statements text[])`);
    const record = "insert into supabase_migrations.schema_migrations values ('20261124115450', array[$1])";
    await client.query(record, [landed]);
    expect(await migrate(database.adminUrl, directory)).toEqual([]);
    await client.query("delete from supabase_migrations.schema_migrations");
    await client.query(record, [landed.replace("warned_people", "warned_person")]);
    await expect(migrate(database.adminUrl, directory)).rejects.toBeInstanceOf(ChangedHistoryError);
  });

  test("Runs only missing migrations, whichever program recorded the others", async () => {
    await client.query(`create schema supabase_migrations;
      create table supabase_migrations.schema_migrations (version text not null primary key);
      insert into supabase_migrations.schema_migrations values ('20260101000000')`);
    write("20260101000000_create_steps.sql", "create table steps (name text);");
    write("20260102000000_create_more.sql", "create table more (name text);");
    expect(await migrate(database.adminUrl, directory)).toEqual(["20260102000000_create_more.sql"]);
    expect(await migrate(database.adminUrl, directory)).toEqual([]);
    expect(await rows("select to_regclass('steps') as steps, to_regclass('more')::text as more")).toEqual([
      { steps: null, more: "more" },
    ]);
  });

  test("Runs each migration once when several run at once", async () => {
    write("1_create_steps.sql", "create table steps (name text);");
    for (let step = 2; step < 8; step += 1)
      write(`${step}_fill.sql`, `insert into steps values ('${step}');`);
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database.adminUrl, directory)));
    expect(applied.flat().sort()).toEqual(readdirSync(directory).sort());
    expect(await rows("select count(*)::int, count(distinct name)::int as names from steps")).toEqual([
      { count: 6, names: 6 },
    ]);
  });

  test("Rolls a failed migration back, keeps earlier ones, and applies it once corrected", async () => {
    write("1_create_steps.sql", "create table steps (name text);");
    write("2_half.sql", "create table half ();\n\ninsert into steps\n  values ('a', 'b');\n");
    await expect(migrate(database.adminUrl, directory)).rejects.toThrow(
      /2_half\.sql, line 4: .*more expressions/,
    );
    expect(await recorded()).toMatchObject([{ version: "1" }]);
    expect(await rows("select to_regclass('half') as half")).toEqual([{ half: null }]);
    write("2_half.sql", "create table half ();");
    expect(await migrate(database.adminUrl, directory)).toEqual(["2_half.sql"]);
  });

  test("Names the line of a failing statement", async () => {
    write("1_divide.sql", "select 'é';\n/* a\n note */\nselect\n  1 / 0;");
    const failure = await migrate(database.adminUrl, directory).catch((error) => error);
    expect(failure).toBeInstanceOf(MigrationError);
    expect(failure).toMatchObject({ file: "1_divide.sql", line: 4 });
    expect(failure.message).toBe("1_divide.sql, line 4: division by zero\n  select 1 / 0");
  });

  test("Refuses a migration that would end its own transaction", async () => {
    write("1_commit.sql", "create table half ();\ncommit;\nselect 1 / 0;");
    await expect(migrate(database.adminUrl, directory)).rejects.toThrow(/1_commit\.sql, line 2/);
    expect(await rows("select to_regclass('half') as half")).toEqual([{ half: null }]);
  });

  test.each(["create_steps.sql", "1-steps.sql"])("Refuses the file name %s", async (file) => {
    write(file, "select 1;");
    await expect(migrate(database.adminUrl, directory)).rejects.toThrow(file);
  });

  test("Refuses two migrations with one version", async () => {
    write("1_a.sql", "select 1;");
    write("1_b.sql", "select 1;");
    await expect(migrate(database.adminUrl, directory)).rejects.toThrow("1_b.sql");
  });
});

describe("bootstrapDatabase", () => {
  test("Creates the schema auth once when it is missing, for several at once", async () => {
    const made = await Promise.all(
      Array.from({ length: 3 }, () => bootstrapDatabaseAt(database.superuserUrl, bootstrap)),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await rows("select count(*)::int as tables from pg_tables where schemaname = 'auth'")).toEqual([
      { tables: 9 },
    ]);
  });

  test("Runs in several databases of a cluster at once, which share their roles", async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => createEmptyDatabase()));
    const made = await Promise.all(
      others.map(({ superuserUrl }) => bootstrapDatabaseAt(superuserUrl, bootstrap)),
    );
    expect(made).toEqual([true, true, true, true]);
    await Promise.all(others.map((other) => other.drop()));
  });

  test("Updates an earlier version's local sign-in and keeps its accounts", async () => {
    const own = await createTestDatabase();
    const superuser = new Client({ connectionString: own.superuserUrl });
    await superuser.connect();
    const functions = async () =>
      (
        await superuser.query(
          "select p.oid::regprocedure::text as name from pg_proc as p where p.pronamespace = 'local_auth'::regnamespace order by 1",
        )
      ).rows;
    const present = await functions();
    await superuser.query("select local_auth.create_user('kept@example.com', null, '{}')");
    await superuser.query(
      `drop function local_auth.find_user(text);
       create function local_auth.find_user(text) returns integer language sql as 'select 1';
       create function local_auth.no_longer_there() returns void language sql as '';
       alter table local_auth.mail_tokens add column code_challenge_method text;
       alter table local_auth.auth_codes add column code_challenge_method text not null, add column method text not null;
       comment on schema local_auth is 'bootstrap of an earlier version'`,
    );
    expect(await bootstrapDatabaseAt(own.superuserUrl, bootstrap)).toBe(false);
    expect(await functions()).toEqual(present);
    const found = await superuser.query("select local_auth.find_user('kept@example.com')::text as id");
    expect(found.rows[0].id).toMatch(/^[0-9a-f-]{36}$/);
    const { rows } = await superuser.query(
      "select attname from pg_attribute where attrelid in ('local_auth.mail_tokens'::regclass, 'local_auth.auth_codes'::regclass) and attname in ('code_challenge_method', 'method')",
    );
    expect(rows).toEqual([]);
    await superuser.end();
    await own.drop();
  });

  test("Adds second-factor tables to an earlier installation and keeps its sessions", async () => {
    const own = await createTestDatabase();
    const superuser = new Client({ connectionString: own.superuserUrl });
    await superuser.connect();
    await superuser.query(
      `select local_auth.open_session((local_auth.create_user('kept@example.com', null, '{}') ->> 'id')::uuid, 'password', null, null);
       drop table local_auth.recovery_codes, local_auth.taken_steps, auth.mfa_challenges, auth.mfa_factors;
       drop type auth.factor_type, auth.factor_status;
       comment on schema local_auth is null`,
    );
    await bootstrapDatabaseAt(own.superuserUrl, bootstrap);
    const { rows } = await superuser.query(
      `select u.id, s.id as session, s.aal,
         local_auth.enrol_totp(u.id, s.id, 'Phone', 'JBSWY3DPEHPK3PXP') ->> 'id' as factor
       from auth.users as u join auth.sessions as s on s.user_id = u.id`,
    );
    expect(rows).toMatchObject([{ aal: "aal1", factor: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    await superuser.end();
    await own.drop();
  });

  test("Leaves another schema auth unchanged, and can run again over its own", async () => {
    const own = await createTestDatabase();
    expect(await bootstrapDatabaseAt(own.superuserUrl, bootstrap)).toBe(false);
    const superuser = new Client({ connectionString: own.superuserUrl });
    await superuser.connect();
    await superuser.query("begin");
    for (const file of readdirSync(bootstrap).sort()) {
      for (const { text } of splitSql(readFileSync(join(bootstrap, file), "utf8")))
        await superuser.query(text);
    }
    await superuser.query("commit");
    await superuser.end();
    await own.drop();
  });
});
