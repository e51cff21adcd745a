import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type ClientBase, DatabaseError } from "pg";
import { connectionTo } from "./connection";
import { deadlines } from "./deadlines";
import { MigrationError, reasonOf, runFile, sqlFilesIn, statementsIn } from "./sql-file";
import { squashedMigrations } from "./squashed-migrations";

/** One migration file: `20260101120000_create_projects.sql` has that version and the name `create_projects`. */
type Migration = { file: string; version: string; name: string; path: string };

/**
 * The key of the advisory lock that all migrating processes share. Nothing else in the database may use the same number.
 */
const lockKey = 6_885_295_217;

const recordTable = `
  create schema if not exists supabase_migrations;
  create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
  alter table supabase_migrations.schema_migrations add column if not exists statements text[];
  alter table supabase_migrations.schema_migrations add column if not exists name text;
`;

/** The database has migrations that this version of the service lacks, because a newer version migrated it. */
export class NewerDatabaseError extends Error {
  override name = "NewerDatabaseError";
}

/** The database has only some of the migrations that were squashed, because its last version was too old. */
export class OlderDatabaseError extends Error {
  override name = "OlderDatabaseError";
}

/**
 * Applies the migrations of a folder that the database lacks, in the order of their names, each in its own transaction.
 * They are recorded in the Supabase CLI's table, so that the CLI and the service can each apply the rest. Several
 * processes may do this at once; one of them applies each migration.
 * @param url a login that may create schemas and roles; also through a transaction-mode pooler
 * @returns the file names that this call applied
 * @throws NewerDatabaseError, before anything is applied, where the database has migrations that the folder lacks
 * @throws OlderDatabaseError where it has only some of those that were squashed
 * @throws MigrationError where a migration fails; it is rolled back, and earlier ones stay applied
 */
export async function migrate(url: string, directory: string): Promise<string[]> {
  const client = await connected(url);
  try {
    const migrations = migrationsIn(directory);
    await replaceSquashed(client, migrations);
    const recorded = await recordedVersions(client);
    refuseNewer(recorded, migrations, directory);
    const applied: string[] = [];
    for (const migration of migrations) {
      if (recorded.has(migration.version)) continue;
      await repeatBefore(client, migration);
      if (await applyOne(client, migration)) applied.push(migration.file);
    }
    return applied;
  } finally {
    await client.end();
  }
}

/**
 * Creates Supabase's roles and `auth` schema in a plain Postgres, from a folder of SQL files, if schema `auth` is
 * missing. If an earlier version of the files created it, the files of the local sign-in (from `5` on) are applied again
 * once they have changed; they can be applied repeatedly. A Supabase database, which has no local sign-in, stays
 * unchanged.
 * @param client logged in as a superuser, or as a role that may create roles that bypass row-level security
 * @returns whether the schema was missing
 * @throws MigrationError
 */
export async function bootstrapDatabase(client: ClientBase, directory: string): Promise<boolean> {
  for (let triesLeft = 3; ; triesLeft -= 1) {
    try {
      return await inLockedTransaction(client, () => applyBootstrap(client, directory));
    } catch (error) {
      // Roles belong to the cluster and the lock to one database, so two bootstraps in one cluster can still conflict.
      const met = error instanceof MigrationError && error.cause instanceof DatabaseError;
      if (!met || triesLeft <= 0 || !/already exists|concurrently updated|_index"$/.test(error.message))
        throw error;
    }
  }
}

async function applyBootstrap(client: ClientBase, directory: string): Promise<boolean> {
  const files = sqlFilesIn(directory);
  const local = files.filter((file) => file >= "5");
  const hash = createHash("sha256");
  for (const file of local) hash.update(`${file}\n${readFileSync(join(directory, file), "utf8")}`);
  const version = `bootstrap ${hash.digest("hex")}`;
  const { rows } = await client.query(
    `select to_regnamespace('auth') is null as missing, to_regnamespace('local_auth') is not null as local,
       obj_description(to_regnamespace('local_auth')::oid, 'pg_namespace') as version`,
  );
  const { missing } = rows[0];
  const isOutdated = rows[0].local && rows[0].version !== version;
  if (!missing && !isOutdated) return false;
  for (const file of missing ? files : local) await runFile(client, file, join(directory, file));
  await client.query(
    `do $$ begin
       if to_regnamespace('local_auth') is not null then comment on schema local_auth is '${version}'; end if;
     end $$`,
  );
  return missing;
}

/** Like `bootstrapDatabase`, on a connection of its own. */
export async function bootstrapDatabaseAt(url: string, directory: string): Promise<boolean> {
  const client = await connected(url);
  try {
    return await bootstrapDatabase(client, directory);
  } finally {
    await client.end();
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({
    ...connectionTo(url),
    connectionTimeoutMillis: 10_000,
    query_timeout: deadlines.maintenance,
  });
  // A connection that is lost between two statements fails the next one; without a listener it would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

function migrationsIn(directory: string): Migration[] {
  const migrations = sqlFilesIn(directory).map((file) => {
    const [, version, name] = /^(\d+)_(.+)\.sql$/.exec(file) ?? [];
    if (!version || !name)
      throw new Error(`${join(directory, file)}: a migration is named <number>_<name>.sql.`);
    return { file, version, name, path: join(directory, file) };
  });
  const twice = migrations.find(({ version }, index) => migrations[index - 1]?.version === version);
  if (twice)
    throw new Error(`${join(directory, twice.file)}: another migration has the version ${twice.version}.`);
  return migrations;
}

/**
 * Refuses a database that a newer version migrated, because this version would misread its data.
 * @throws NewerDatabaseError
 */
function refuseNewer(recorded: Map<string, string | null>, known: Migration[], directory: string): void {
  const versions = new Set(known.map(({ version }) => version));
  const unknown = [...recorded].filter(([version]) => !versions.has(version)).sort();
  if (unknown.length === 0) return;
  const names = unknown.slice(0, 3).map(([version, name]) => [version, name].filter(Boolean).join("_"));
  const more = unknown.length > 3 ? ` and ${unknown.length - 3} more` : "";
  throw new NewerDatabaseError(
    `The database is newer than this version of the service: it has ${names.join(", ")}${more}, which ${directory} has not. ` +
      "Start the version that made it, or a later one; or restore the database from before that.",
  );
}

/**
 * Replaces the records of squashed migrations by those of their replacements, as `supabase migration repair` would.
 * @throws OlderDatabaseError where the database has only some of those that were squashed
 */
async function replaceSquashed(client: ClientBase, known: Migration[]): Promise<void> {
  const { replaced } = squashedMigrations;
  const replacements = known.filter(({ version }) => squashedMigrations.by.includes(version));
  const isToReplace = (recorded: Map<string, unknown>) => replaced.some((version) => recorded.has(version));
  if (replacements.length === 0 || !isToReplace(await recordedVersions(client))) return;
  await inLockedTransaction(client, async () => {
    await client.query(recordTable);
    const recorded = await recordedVersions(client);
    // Another process has replaced them meanwhile.
    if (!isToReplace(recorded)) return;
    const missing = replaced.filter((version) => !recorded.has(version));
    const isReplaced = replacements.every(({ version }) => recorded.has(version));
    if (missing.length > 0 && !isReplaced) {
      throw new OlderDatabaseError(
        `The database is too old for this version of the service: it lacks ${missing.length} of the migrations up to ${replaced.at(-1)}, ` +
          `the first being ${missing[0]}. Start the last version that has them once, then this one; docs/deploy.md says how to find it.`,
      );
    }
    await client.query("delete from supabase_migrations.schema_migrations where version = any ($1)", [
      replaced,
    ]);
    for (const { version, name, path } of replacements) {
      const statements = statementsIn(path).map(({ text }) => text);
      await client.query(
        `insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)
         on conflict (version) do nothing`,
        [version, name, statements],
      );
    }
  });
}

/** The versions that were applied, with their names where recorded. */
async function recordedVersions(client: ClientBase): Promise<Map<string, string | null>> {
  const table = await client.query("select to_regclass('supabase_migrations.schema_migrations') as found");
  if (!table.rows[0].found) return new Map();
  // Reads whole rows, because older tools created the table without the column `name`.
  const { rows } = await client.query<{ version: string; name: string | null }>(
    "select version, to_jsonb(m) ->> 'name' as name from supabase_migrations.schema_migrations as m",
  );
  return new Map(rows.map(({ version, name }) => [version, name]));
}

/** Repeats the statement that a migration begins with. @throws MigrationError; earlier runs of the statement stay */
async function repeatBefore(client: ClientBase, { file, version, path }: Migration): Promise<void> {
  const statement = /^-- Repeat until 0: (select [^\n]+)/.exec(readFileSync(path, "utf8"))?.[1];
  if (statement === undefined) return;
  for (let left = 1; left > 0; ) {
    left = await inLockedTransaction(client, async () => {
      // Another process may have applied it meanwhile.
      if ((await recordedVersions(client)).has(version)) return 0;
      const { rows } = await client.query<[number]>({ text: statement, rowMode: "array" }).catch((error) => {
        throw new MigrationError(file, 1, statement, reasonOf(error), error);
      });
      return Number(rows[0]?.[0]);
    });
  }
}

/** @returns false when another process has applied it already */
function applyOne(client: ClientBase, { file, version, name, path }: Migration): Promise<boolean> {
  return inLockedTransaction(client, async () => {
    await client.query(recordTable);
    const { rowCount } = await client.query(
      "select from supabase_migrations.schema_migrations where version = $1",
      [version],
    );
    if (rowCount) return false;
    const statements = await runFile(client, file, path);
    await client.query(
      "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)",
      [version, name, statements],
    );
    return true;
  });
}

/**
 * Calls `run` in a transaction under the advisory lock. The lock belongs to the transaction, not to the session, so that
 * it works through a transaction-mode pooler.
 */
async function inLockedTransaction<T>(client: ClientBase, run: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    // Roles on hosted Supabase have time limits, which a long migration or the wait for the lock may exceed.
    await client.query(
      "set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0",
    );
    await client.query("select pg_advisory_xact_lock($1)", [lockKey]);
    const result = await run();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
