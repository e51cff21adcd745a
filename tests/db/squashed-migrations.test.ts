import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate, OlderDatabaseError } from "@/lib/db/migrate";
import { squashedMigrations } from "@/lib/db/squashed-migrations";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

const migrations = join(projectRoot, "supabase/migrations");
const next = "20990101000000_create_next.sql";
let database: TestDatabase;
let client: Client;
let folder: string;

// A database as the version before the squash left it: the same schema, and the record of that version's migrations.
beforeEach(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.adminUrl });
  await client.connect();
  folder = mkdtempSync(join(tmpdir(), "migrations-"));
  for (const file of readdirSync(migrations)) copyFileSync(join(migrations, file), join(folder, file));
  writeFileSync(join(folder, next), "create table private.next ();");
});

afterEach(async () => {
  await client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const record = async () =>
  (await client.query("select * from supabase_migrations.schema_migrations order by version")).rows;

/** Forgets the migrations that were squashed into one another, and remembers these instead. */
async function rememberInstead(versions: string[]): Promise<void> {
  await client.query("delete from supabase_migrations.schema_migrations where version = any ($1)", [
    squashedMigrations.by,
  ]);
  await client.query(
    "insert into supabase_migrations.schema_migrations (version, name) select version, 'earlier' from unnest($1::text[]) as version",
    [versions],
  );
}

test("Recognises a database from before the squash: runs only newer migrations, and records those of the folder", async () => {
  const made = await record();
  await rememberInstead(squashedMigrations.replaced);
  await client.query("insert into public.workspaces (slug, name) values ('kept', 'Kept')");

  expect(await migrate(database.adminUrl, folder)).toEqual([next]);
  expect(await record()).toEqual([
    ...made,
    { version: "20990101000000", name: "create_next", statements: ["create table private.next ()"] },
  ]);
  expect((await client.query("select name from public.workspaces")).rows).toEqual([{ name: "Kept" }]);
  expect(await migrate(database.adminUrl, folder)).toEqual([]);
});

test("Replaces the records once when several processes start at once", async () => {
  const made = await record();
  await rememberInstead(squashedMigrations.replaced);
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database.adminUrl, folder)));
  expect(applied.flat()).toEqual([next]);
  expect((await record()).slice(0, -1)).toEqual(made);
});

test("Keeps newer migrations that ran before the squash was known", async () => {
  const versions = (await record()).map(({ version }) => version);
  await rememberInstead([...squashedMigrations.replaced, "20990101000000"]);
  expect(await migrate(database.adminUrl, folder)).toEqual([]);
  expect((await record()).map(({ version }) => version)).toEqual([...versions, "20990101000000"]);
});

test("Removes the replaced migrations where their replacements were recorded by hand", async () => {
  const made = await record();
  await client.query(
    "insert into supabase_migrations.schema_migrations (version) select unnest($1::text[])",
    [squashedMigrations.replaced.slice(0, 5)],
  );
  expect(await migrate(database.adminUrl, migrations)).toEqual([]);
  expect(await record()).toEqual(made);
});

test("Refuses a database that has only some of the replaced migrations, and changes nothing", async () => {
  await rememberInstead(squashedMigrations.replaced.slice(0, -2));
  const before = await record();
  const refused = migrate(database.adminUrl, folder);
  await expect(refused).rejects.toBeInstanceOf(OlderDatabaseError);
  await expect(refused).rejects.toThrow(
    /it lacks 2 of the migrations up to 20261122070300, the first being 20261122070200\./,
  );
  expect(await record()).toEqual(before);
  expect((await client.query("select to_regclass('private.next') as next")).rows).toEqual([{ next: null }]);
});

test("Has every replacement in the folder, and none of the replaced migrations", () => {
  const versions = readdirSync(migrations).map((file) => file.split("_")[0]);
  expect(versions).toEqual(expect.arrayContaining(squashedMigrations.by));
  expect(versions.filter((version) => squashedMigrations.replaced.includes(version ?? ""))).toEqual([]);
});
