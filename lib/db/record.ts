import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientBase } from "pg";
import { MigrationError, reasonOf, runFile, sqlFilesIn, statementsIn } from "./sql-file";

/** One migration file: `20260101120000_create_projects.sql` has that version and the name `create_projects`. */
export type Migration = { file: string; version: string; name: string; path: string };

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

/** The migrations of a folder, in order. @throws Error if a file's name has no version, or two files have the same version */
export function migrationsIn(directory: string): Migration[] {
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

/** The versions that were applied, by any program that records migrations as the Supabase CLI does. */
export async function recordedIn(client: ClientBase): Promise<Set<string>> {
  // Not by to_regclass, which may use a cache that is older than the lock.
  const table = await client.query(
    "select from pg_tables where schemaname = 'supabase_migrations' and tablename = 'schema_migrations'",
  );
  if (table.rowCount === 0) return new Set();
  const { rows } = await client.query<{ version: string }>(
    "select version from supabase_migrations.schema_migrations",
  );
  return new Set(rows.map(({ version }) => version));
}

/**
 * Applies a migration in a transaction of its own, and records it.
 * @param isDue called under the lock, because another process may have applied the migration meanwhile
 * @returns whether it was due
 * @throws MigrationError; the migration is rolled back, except the statement that it repeats first (docs/guides/add-a-migration.md)
 */
export async function applyMigration(
  client: ClientBase,
  migration: Migration,
  isDue: (recorded: Set<string>) => boolean = () => true,
): Promise<boolean> {
  const { file, version, path } = migration;
  const isStillDue = async () => {
    const recorded = await recordedIn(client);
    return !recorded.has(version) && isDue(recorded);
  };
  await repeatBefore(client, migration, isStillDue);
  return inLockedTransaction(client, async () => {
    if (!(await isStillDue())) return false;
    const statements = await runFile(client, file, path);
    await recordMigration(client, migration, statements);
    return true;
  });
}

/** Records a migration as applied, without running it. */
export async function recordMigration(
  client: ClientBase,
  { version, name, path }: Migration,
  statements = statementsIn(path).map(({ text }) => text),
): Promise<void> {
  await client.query(recordTable);
  await client.query(
    `insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)
     on conflict (version) do nothing`,
    [version, name, statements],
  );
}

/** Repeats the statement in a migration's first comment until it returns 0. @throws MigrationError; earlier runs are kept */
async function repeatBefore(
  client: ClientBase,
  { file, path }: Migration,
  isStillDue: () => Promise<boolean>,
): Promise<void> {
  const statement = /^-- Repeat until 0: (select [^\n]+)/.exec(readFileSync(path, "utf8"))?.[1];
  if (statement === undefined) return;
  for (let left = 1; left > 0; ) {
    left = await inLockedTransaction(client, async () => {
      if (!(await isStillDue())) return 0;
      const { rows } = await client.query<[number]>({ text: statement, rowMode: "array" }).catch((error) => {
        throw new MigrationError(file, 1, statement, reasonOf(error), error);
      });
      return Number(rows[0]?.[0]);
    });
  }
}

/**
 * Calls `run` in a transaction under the advisory lock. The lock belongs to the transaction, not to the session, so that
 * it works through a transaction-mode pooler.
 */
export async function inLockedTransaction<T>(client: ClientBase, run: () => Promise<T>): Promise<T> {
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
