import { join } from "node:path";
import {
  bootstrapDatabaseAt,
  MigrationError,
  migrate,
  NewerDatabaseError,
  OlderDatabaseError,
} from "@/lib/db/migrate";
import { EnvError } from "@/lib/env";

/**
 * Brings a database that the settings name up to date.
 * @param adminUrl a login that may create schemas and roles
 * @param root the folder of the repository, where `supabase/` is
 * @returns what was done, in one line
 * @throws EnvError, MigrationError, NewerDatabaseError, OlderDatabaseError, or Error with a message fit for a person.
 */
export async function migrateDatabase(adminUrl: string, root: string): Promise<string> {
  const { host } = new URL(adminUrl);
  try {
    await bootstrapBare(adminUrl, join(root, "supabase/bootstrap"));
    const applied = await migrate(adminUrl, join(root, "supabase/migrations"));
    return `${host}: ${describeApplied(applied)}`;
  } catch (cause) {
    const isOurs = [MigrationError, NewerDatabaseError, OlderDatabaseError, EnvError].some(
      (kind) => cause instanceof kind,
    );
    if (!(cause instanceof Error) || isOurs) throw cause;
    // A refused connection or password, which says neither which database it was nor whose setting.
    throw new Error(`The database at ${host} (POSTGRES_URL) cannot be used: ${cause.message}`, { cause });
  }
}

/** A Postgres that is not Supabase's lacks its roles and `auth` schema; they are made where the login may. */
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

/** @param applied the files of migrations that were applied, in order */
export function describeApplied(applied: string[]): string {
  return applied.length === 0 ? "up to date" : `${applied.length} applied, to ${applied.at(-1)}`;
}
