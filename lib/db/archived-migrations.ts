import { join } from "node:path";
import type { ClientBase } from "pg";
import {
  applyMigration,
  inLockedTransaction,
  type Migration,
  migrationsIn,
  recordedIn,
  recordMigration,
} from "./record";
import { statementsIn } from "./sql-file";

/**
 * The migrations that the baseline replaced. Together they bring a database of any released version to the schema of the baseline. New
 * databases never run them.
 */
export type Archived = {
  /** The files up to 22 November 2026. */
  first: Migration[];
  /** The files that replaced those of `first`, and all later ones. */
  second: Migration[];
  /** All versions that a database may have recorded. */
  all: Pick<Migration, "version">[];
};

/** The last of the files in `second` that create the same schema as those of `first`. */
const lastReplacement = "20261122081600";

/** A file that some databases recorded under a version which now belongs to another file. */
const renumbered = { name: "forget_attempts", from: "20261122090000", to: "20261122090200" };

/** A file that was withdrawn. An earlier file now makes its change. */
const withdrawn = { version: "20261125190700" };

/** Whether a migration is a file of the baseline, which creates the same schema as the archive. */
const isOfBaseline = ({ version }: Migration) => version.startsWith("2026112318");

/** Reads `supabase/archive`. */
export function archivedIn(directory: string): Archived {
  const first = migrationsIn(join(directory, "20261121"));
  const second = migrationsIn(join(directory, "20261122"));
  return { first, second, all: [...first, ...second, withdrawn] };
}

/**
 * Brings a database that has run archived migrations to the baseline: runs the rest of them, then replaces their records
 * by those of the baseline's files, as `supabase migration repair` would. The next call continues an interrupted one.
 * @returns the file names that this call applied, none for any other database
 * @throws MigrationError
 */
export async function bringToBaseline(
  client: ClientBase,
  archived: Archived,
  migrations: Migration[],
): Promise<string[]> {
  const versions = new Set(archived.all.map(({ version }) => version));
  const isArchived = (recorded: Set<string>) => [...recorded].some((version) => versions.has(version));
  const applied: string[] = [];
  if (!isArchived(await recordedIn(client))) return applied;
  await client.query(
    "update supabase_migrations.schema_migrations set version = $3 where version = $2 and to_jsonb(schema_migrations) ->> 'name' = $1",
    [renumbered.name, renumbered.from, renumbered.to],
  );
  for (const migration of restOf(archived, await recordedIn(client))) {
    if (await applyMigration(client, migration, isArchived)) applied.push(migration.file);
  }
  await inLockedTransaction(client, async () => {
    if (!isArchived(await recordedIn(client))) return;
    const baseline = migrations.filter(isOfBaseline);
    for (const { path } of baseline) {
      // The earliest versions of some archived files created functions with a different text.
      const functions = statementsIn(path).filter(({ body }) => body.startsWith("create function"));
      for (const { body } of functions)
        await client.query(body.replace("create function", "create or replace function"));
    }
    await client.query("delete from supabase_migrations.schema_migrations where version = any ($1)", [
      [...versions],
    ]);
    for (const migration of baseline) await recordMigration(client, migration);
  });
  return applied;
}

/** The archived migrations that a database lacks, in the order in which it must run them. */
function restOf({ first, second }: Archived, recorded: Set<string>): Migration[] {
  const lacks = ({ version }: Migration) => !recorded.has(version);
  const replacements = second.filter(({ version }) => version <= lastReplacement);
  const isOfFirst = !first.every(lacks) && replacements.some(lacks);
  return isOfFirst
    ? [...first, ...second.filter((migration) => !replacements.includes(migration))].filter(lacks)
    : second.filter(lacks);
}
