import { join } from "node:path";
import { tlsRemedy } from "@/lib/db/connection";
import { bootstrapDatabaseAt, ChangedHistoryError, migrate, NewerDatabaseError } from "@/lib/db/migrate";
import { MigrationError } from "@/lib/db/sql-file";
import { EnvError } from "@/lib/env";

/**
 * Bootstraps and migrates the database in the settings.
 * @param adminUrl a login that may create schemas and roles
 * @param root the folder of the repository, where `supabase/` is
 * @returns the result in one line
 * @throws EnvError, MigrationError, NewerDatabaseError, ChangedHistoryError, or Error with a message for users
 */
export async function migrateDatabase(adminUrl: string, root: string): Promise<string> {
  const { host } = new URL(adminUrl);
  try {
    await bootstrapBare(adminUrl, join(root, "supabase/bootstrap"));
    const applied = await migrate(
      adminUrl,
      join(root, "supabase/migrations"),
      join(root, "supabase/archive"),
    );
    return `${host}: ${describeApplied(applied)}`;
  } catch (cause) {
    const isOurs = [MigrationError, NewerDatabaseError, ChangedHistoryError, EnvError].some(
      (kind) => cause instanceof kind,
    );
    if (!(cause instanceof Error) || isOurs) throw cause;
    // The error of a refused connection or password names neither the database nor the setting.
    const remedy = tlsRemedy(cause);
    throw new Error(
      `The database at ${host} (POSTGRES_URL) cannot be used: ${cause.message}${remedy ? `. ${remedy}` : ""}`,
      { cause },
    );
  }
}

/** Creates Supabase's roles and `auth` schema in a plain Postgres. @throws EnvError if the login may not create them */
async function bootstrapBare(adminUrl: string, directory: string): Promise<void> {
  try {
    await bootstrapDatabaseAt(adminUrl, directory);
  } catch (cause) {
    if (!(cause instanceof MigrationError)) throw cause;
    throw new EnvError(
      `The database at ${new URL(adminUrl).host} has no schema "auth", or one of an earlier version of the local sign-in, ` +
        `and this login may not make what is missing (${cause.message}). Give a superuser's address in POSTGRES_URL_NON_POOLING, or use a Supabase database.`,
      { cause },
    );
  }
}

/** Describes applied migrations in a few words. @param applied their file names, in order */
export function describeApplied(applied: string[]): string {
  return applied.length === 0 ? "up to date" : `${applied.length} applied, to ${applied.at(-1)}`;
}
