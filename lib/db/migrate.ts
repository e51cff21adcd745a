import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type ClientBase, DatabaseError } from "pg";
import { archivedIn, bringToBaseline } from "./archived-migrations";
import { connectionTo } from "./connection";
import { deadlines } from "./deadlines";
import { applyMigration, inLockedTransaction, type Migration, migrationsIn, recordedIn } from "./record";
import { MigrationError, runFile, sqlFilesIn, statementsIn } from "./sql-file";

/** The database has migrations that this version of the service lacks, because a newer version migrated it. */
export class NewerDatabaseError extends Error {
  override name = "NewerDatabaseError";
}

/**
 * Migrations that landed in another form, by version: the SHA-256 of the `essence` that databases may have run. They add columns with a
 * default, which Postgres 15.20 and later minor versions refuse for `budgets`; both forms make the same schema.
 */
const earlierForms = new Map([
  ["20261124115450", "89b73e5899818d9e66d01f555873b002a8f60128448dbd1454cf69b2fafe2593"],
  ["20261124181142", "7e77a37afffa3a151b1f9c92c27777a8bc03091e11099d8c5fed16004a753176"],
]);

/** The files do not continue the recorded migrations: one was edited, or sorts before a recorded one. */
export class ChangedHistoryError extends Error {
  override name = "ChangedHistoryError";
}

/**
 * Applies the migrations of a folder that the database lacks, in the order of their names, each in its own transaction.
 * They are recorded in the Supabase CLI's table, so that the CLI and the service can each apply the rest. Several
 * processes may do this at once; one of them applies each migration.
 * @param url a login that may create schemas and roles; also through a transaction-mode pooler
 * @param archive the folder of the migrations that the baseline replaced, for a database that may have run some of them
 * @returns the file names that this call applied
 * @throws NewerDatabaseError, before anything is applied, if the database has migrations that the folders lack
 * @throws ChangedHistoryError, before a migration of the folder is applied, if a file was edited after it was applied, or a new file
 *   sorts before the newest one that was applied
 * @throws MigrationError if a migration fails; it is rolled back, and earlier ones stay applied
 */
export async function migrate(url: string, directory: string, archive?: string): Promise<string[]> {
  const client = await connected(url);
  try {
    const migrations = migrationsIn(directory);
    const archived = archive === undefined ? undefined : archivedIn(archive);
    await refuseNewer(client, [...migrations, ...(archived?.all ?? [])], directory);
    const applied = archived ? await bringToBaseline(client, archived, migrations) : [];
    const recorded = await recordedIn(client);
    await refuseNewer(client, migrations, directory);
    refuseLate(recorded, migrations);
    await refuseEdited(client, migrations);
    for (const migration of migrations) {
      if (recorded.has(migration.version)) continue;
      if (await applyMigration(client, migration)) applied.push(migration.file);
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

/**
 * Refuses a database that a newer version migrated, because this version would misread its data.
 * @throws NewerDatabaseError
 */
async function refuseNewer(
  client: ClientBase,
  known: Pick<Migration, "version">[],
  directory: string,
): Promise<void> {
  const versions = new Set(known.map(({ version }) => version));
  const unknown = [...(await recordedIn(client))].filter((version) => !versions.has(version));
  if (unknown.length === 0) return;
  // Reads whole rows, because older tools created the table without the columns `name` and `statements`.
  const { rows } = await client.query<{ name: string }>(
    `select concat_ws('_', version, to_jsonb(m) ->> 'name') as name
     from supabase_migrations.schema_migrations as m where version = any ($1) order by version limit 3`,
    [unknown],
  );
  const more = unknown.length > 3 ? ` and ${unknown.length - 3} more` : "";
  throw new NewerDatabaseError(
    `The database is newer than this version of the service: it has ${rows.map(({ name }) => name).join(", ")}${more}, which ${directory} has not. ` +
      "Start the version that made it, or a later one; or restore the database from before that.",
  );
}

/**
 * Refuses a new file that sorts before an applied one, because a new database would run the two in the other order.
 * @throws ChangedHistoryError
 */
function refuseLate(recorded: Set<string>, known: Migration[]): void {
  const newest = known.findLast(({ version }) => recorded.has(version));
  const late = known.find(({ version }) => newest && version < newest.version && !recorded.has(version));
  if (!newest || !late) return;
  throw new ChangedHistoryError(
    `${late.file} sorts before ${newest.file}, which the database has already. Name it after the present time (UTC).`,
  );
}

/**
 * Refuses a file that was edited after it was applied, because this database would never get the edit.
 * @throws ChangedHistoryError
 */
async function refuseEdited(client: ClientBase, known: Migration[]): Promise<void> {
  if ((await recordedIn(client)).size === 0) return;
  const { rows } = await client.query<{ version: string; statements: string[] | null }>(
    "select version, to_jsonb(m) -> 'statements' as statements from supabase_migrations.schema_migrations as m",
  );
  const ran = new Map(rows.map(({ version, statements }) => [version, statements]));
  for (const { file, version, path } of known) {
    const statements = ran.get(version);
    if (!statements || consistsOf(readFileSync(path, "utf8"), statements)) continue;
    const recorded = essence(statements);
    if (recorded === essence(statementsIn(path).map(({ text }) => text))) continue;
    if (createHash("sha256").update(recorded).digest("hex") === earlierForms.get(version)) continue;
    throw new ChangedHistoryError(
      `${file} is not what the database ran as ${version}. Restore the file, and put the change into a new one.`,
    );
  }
}

/**
 * Whether a file consists of statements with white space, semicolons and line comments between them. Every start asks this of every
 * migration: to split the files into statements takes a tenth of its processor time.
 */
function consistsOf(text: string, statements: string[]): boolean {
  const isBetween = (gap: string) => /^(?:[\s;]|--[^\n]*(?:\n|$))*$/.test(gap);
  let at = 0;
  for (const statement of statements) {
    const found = text.indexOf(statement, at);
    if (found < 0 || !isBetween(text.slice(at, found))) return false;
    at = found + statement.length;
  }
  return isBetween(text.slice(at));
}

/** Statements without comments, white space and semicolons, which programs record differently. */
function essence(statements: string[]): string {
  return statements
    .join("\n")
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/[\s;]/g, "");
}
