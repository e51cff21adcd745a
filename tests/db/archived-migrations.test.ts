import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { bootstrapDatabaseAt, migrate, NewerDatabaseError } from "@/lib/db/migrate";
import { MigrationError } from "@/lib/db/sql-file";
import { readCatalogue } from "@/tests/helpers/catalogue";
import { copyTemplate } from "@/tests/helpers/cluster";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { projectRoot } from "@/tests/helpers/project-root";

const supabase = join(projectRoot, "supabase");
const migrations = join(supabase, "migrations");
const archive = join(supabase, "archive");
const first = readdirSync(join(archive, "20261121")).sort();
const second = readdirSync(join(archive, "20261122")).sort();
/** The files after the baseline, which every database needs. */
const later = readdirSync(migrations).filter((file) => file > "20261123180038");
const renumbered = "20261122090200_forget_attempts.sql";

/** Files of the archive, each with the name under which a version had it. */
type Version = [file: string, name: string][];
const asNamed = (files: string[]): Version => files.map((file) => [file, file]);

/** Versions that databases may have. `npm run test:upgrade` tries every one that was ever on the main branch. */
const versions: [name: string, files: Version][] = [
  ["with 47 files, the first that was released", asNamed(first.slice(0, 47))],
  [
    "with all 63 of the first history and one that was renumbered",
    [...asNamed(first), [renumbered, "20261122090000_forget_attempts.sql"]],
  ],
  ["in the middle of its first start on the second history", asNamed(second.slice(0, 7))],
  ["with a file of the second history that sorts before others it has", asNamed(second.toSpliced(60, 1))],
  ["with all of the second history", asNamed(second)],
];

let database: TestDatabase;
let client: Client;
let folder: string;
let wanted: { catalogue: string[]; record: unknown[] };

const recordIn = async (of: Client) =>
  (await of.query("select * from supabase_migrations.schema_migrations order by version")).rows;

async function described(of: Client): Promise<typeof wanted> {
  // Columns that were added in another order are the same columns.
  const catalogue = await readCatalogue(of, false);
  await of.query("reset search_path");
  return { catalogue, record: await recordIn(of) };
}

beforeAll(async () => {
  const fresh = await createTestDatabase();
  const other = new Client({ connectionString: fresh.adminUrl });
  await other.connect();
  wanted = await described(other);
  await other.end();
  await fresh.drop();
});

beforeEach(async () => {
  await open(await createEmptyDatabase());
  await bootstrapDatabaseAt(database.superuserUrl, join(supabase, "bootstrap"));
  folder = mkdtempSync(join(tmpdir(), "migrations-"));
});

afterAll(() => Promise.all(made.map((each) => each.database.drop())));

async function open(opened: TestDatabase): Promise<void> {
  database = opened;
  client = new Client({ connectionString: database.adminUrl });
  await client.connect();
}

async function copy(of: TestDatabase): Promise<TestDatabase> {
  return copyTemplate(inject("cluster"), new URL(of.url).pathname.slice(1));
}

afterEach(async () => {
  await client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Databases with the first files of a version, without a connection: to copy one takes a fraction of running its files. */
const made: { files: Version; database: TestDatabase }[] = [];

/** Of how many files a database is kept, because several versions begin with them. */
const keptLengths = [7, 20, 47, 60, 99];

/** Replaces the database by one that was migrated as a version with these files did, and gives it a workspace. */
async function makeVersion(files: Version): Promise<void> {
  const isStart = (of: Version) => JSON.stringify(files.slice(0, of.length)) === JSON.stringify(of);
  const [longest] = made
    .filter((each) => isStart(each.files))
    .sort((a, b) => b.files.length - a.files.length);
  await client.end();
  if (longest) {
    await database.drop();
    database = await copy(longest.database);
  }
  const done = longest?.files.length ?? 0;
  for (const until of [
    ...keptLengths.filter((length) => length > done && length < files.length),
    files.length,
  ]) {
    for (const [file, name] of files.slice(0, until))
      copyFileSync(join(archive, first.includes(file) ? "20261121" : "20261122", file), join(folder, name));
    await migrate(database.adminUrl, folder);
    if (keptLengths.includes(until))
      made.push({ files: files.slice(0, until), database: await copy(database) });
  }
  await open(database);
  await client.query("insert into public.workspaces (slug, name) values ('kept', 'Kept')");
}

const upgrade = (from = archive) => migrate(database.adminUrl, migrations, from);

test.each(versions)("Brings a database to the baseline that is %s", async (_, files) => {
  await makeVersion(files);
  await upgrade();
  expect(await described(client)).toEqual(wanted);
  expect((await client.query("select name from public.workspaces")).rows).toEqual([{ name: "Kept" }]);
  expect(await upgrade()).toEqual([]);
});

test("Applies each file once where several processes upgrade at once", async () => {
  await makeVersion(asNamed(second.toSpliced(60, 1).slice(0, 100)));
  const applied = (await Promise.all([upgrade(), upgrade(), upgrade()])).flat();
  expect(applied.sort()).toEqual([second[60], ...second.slice(101), ...later].sort());
  expect(await described(client)).toEqual(wanted);
});

test("Goes on where an attempt ended", async () => {
  await makeVersion(asNamed(first.slice(0, 47)));
  const broken = join(folder, "archive");
  cpSync(archive, broken, { recursive: true });
  for (const file of [`20261121/${first[50]}`, `20261122/${second[40]}`, `20261122/${second.at(-1)}`]) {
    writeFileSync(join(broken, file), "create table private.half ();\nselect 1 / 0;");
    await expect(upgrade(broken)).rejects.toBeInstanceOf(MigrationError);
    copyFileSync(join(archive, file), join(broken, file));
  }
  await upgrade();
  expect(await described(client)).toEqual(wanted);
});

test("Runs nothing of the archive in a new database", async () => {
  expect(await upgrade()).toEqual(readdirSync(migrations).sort());
  expect(await described(client)).toEqual(wanted);
});

test("Completes a database that a killed first start left with part of the baseline", async () => {
  for (const file of readdirSync(migrations).sort().slice(0, 5))
    copyFileSync(join(migrations, file), join(folder, file));
  await migrate(database.adminUrl, folder);
  await upgrade();
  expect(await described(client)).toEqual(wanted);
});

test("Refuses a database with a migration that neither folder has, and changes nothing", async () => {
  await makeVersion(asNamed(second.slice(0, 20)));
  await client.query(
    "insert into supabase_migrations.schema_migrations (version, name) values ('20990101000000', 'fly')",
  );
  const before = await recordIn(client);
  const refused = upgrade();
  await expect(refused).rejects.toBeInstanceOf(NewerDatabaseError);
  await expect(refused).rejects.toThrow(/it has 20990101000000_fly, which/);
  expect(await recordIn(client)).toEqual(before);
});

test("Has no migration of the archive among the migrations", () => {
  const versionsOf = (files: string[]) => files.map((file) => file.split("_")[0]);
  const archived = new Set(versionsOf([...first, ...second]));
  expect(versionsOf(readdirSync(migrations)).filter((version) => archived.has(version))).toEqual([]);
});
