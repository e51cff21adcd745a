import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { lifeOf } from "@/lib/db/embedded/claim.mjs";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import type { HostedCluster, TestProject } from "./hosted-sign-in";
import { projectRoot } from "./project-root";

/** What a test needs to create databases; the global setup passes it to the test workers as JSON. */
export type TestCluster = {
  superuserUrl: string;
  adminUrl: string;
  url: string;
  template: string;
  /** The folder of the run's Postgres, which is deleted when the run ends. */
  folder: string;
  /** Only in runs of `npm run test:supabase`: every database has a Supabase project then. */
  hosted?: HostedCluster;
};

declare module "vitest" {
  interface ProvidedContext {
    cluster: TestCluster;
  }
}

const prefix = "outlay-test-";

/** Creates an empty folder that the account of Postgres can enter. The caller deletes it. */
export function makeDataDir(): string {
  // The name has the process id, so that a later run can clean up after a killed one.
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-${lifeOf(process.pid)}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Starts a Postgres with a migrated template database in a temporary folder.
 * @throws Error when it cannot start: without a database, tests fail and are never skipped
 */
export async function startTestCluster(): Promise<{ cluster: TestCluster; stop(): Promise<void> }> {
  removeLeftovers();
  const dataDir = makeDataDir();
  const said: string[] = [];
  const server = await startEmbeddedPostgres({
    dataDir,
    log: (message) => said.push(message),
    // Not durable against a power failure; a killed Postgres still loses nothing.
    // Logins prove their password with one round of hashing instead of 4,096.
    overrides: { fsync: "off", full_page_writes: "off", max_connections: "200", scram_iterations: "1" },
  });
  const stop = async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await bootstrapDatabaseAt(server.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(server.adminUrl, join(projectRoot, "supabase/migrations"));
    await server.enableServiceLogin();
    const template = new URL(server.url).pathname.slice(1);
    const { superuserUrl, adminUrl, url } = server;
    return { cluster: { superuserUrl, adminUrl, url, template, folder: dataDir }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A new database, copied from the template. */
export type TestDatabase = {
  url: string;
  adminUrl: string;
  superuserUrl: string;
  project?: TestProject;
  drop(): Promise<void>;
};

/** Copies the template database. @param template `null` for an empty database without the bootstrap. @param settings of its Supabase project */
export async function copyTemplate(
  cluster: TestCluster,
  template: string | null = cluster.template,
  settings: Record<string, string> = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asSuperuser(cluster, (client) =>
    client.query(
      // Copying files takes a third of the processor time of logging every block. Its checkpoints are cheap without fsync.
      `create database ${name} owner postgres template ${template ?? "template0"} strategy file_copy`,
    ),
  );
  const url = inDatabase(cluster.hosted?.pooledUrl ?? cluster.url, name);
  const project =
    cluster.hosted && template !== null ? await openProject(cluster.hosted, url, settings) : undefined;
  return {
    url,
    adminUrl: inDatabase(cluster.adminUrl, name),
    superuserUrl: inDatabase(cluster.superuserUrl, name),
    ...(project && { project }),
    drop: async () => {
      await project?.stop();
      await asSuperuser(cluster, (client) => drop(client, name));
    },
  };
}

async function openProject(hosted: HostedCluster, url: string, extra: Record<string, string>) {
  const { startProject } = await import("@/tests/supabase/project");
  return startProject(hosted, { url }, { extra });
}

/**
 * Lets a database hash passwords with less work than in production, because tests sign up hundreds of users.
 * `tests/auth/accounts.test.ts` verifies the work of production.
 */
export async function hashQuickly({ superuserUrl }: TestDatabase): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query(
      `create or replace function extensions.gen_salt(text, integer) returns text
       language sql as 'select extensions.gen_salt($1)'`,
    );
  } finally {
    await client.end();
  }
}

/** How long closing connections may take. */
const closeLimitMs = 2_000;

/** Drops a database once its connections are closed, because a connection that is terminated fails its test run. */
async function drop(client: Client, name: string): Promise<void> {
  const connections = async () =>
    (await client.query("select from pg_stat_activity where datname = $1", [name])).rowCount;
  const deadline = Date.now() + closeLimitMs;
  while (Date.now() < deadline && (await connections())) await setTimeout(20);
  await client.query(`drop database if exists ${name} with (force)`);
}

/** Calls `run` with a connection of the superuser to the run's Postgres. */
export async function asSuperuser(
  cluster: TestCluster,
  run: (client: Client) => Promise<unknown>,
): Promise<void> {
  // Not over a connection to the template, because a database in use cannot be copied.
  const client = new Client({ connectionString: inDatabase(cluster.superuserUrl, "postgres") });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}

function inDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Stops and deletes what killed test runs left. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid, life] = new RegExp(`^${prefix}(\\d+)-([^-]+)-`).exec(name) ?? [];
    if (!pid || lifeOf(Number(pid)) === life) continue;
    const folder = join(tmpdir(), name);
    try {
      const cluster = join(folder, "postgres/cluster");
      const postmaster = Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0]);
      const command = readFileSync(`/proc/${postmaster}/cmdline`, "utf8").split("\0");
      if (command.includes(cluster)) process.kill(postmaster, "SIGQUIT");
    } catch {
      // There is no server left, as intended.
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
