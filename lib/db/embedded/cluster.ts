import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { deadlines } from "@/lib/db/deadlines";
import { asAccount } from "./account";
import type { Binaries } from "./binaries";
import type { Home } from "./home";
import type { Login, State } from "./state";

/** Time limits for short statements during the start. A server that does not answer within a minute never will. */
const limits = { connectionTimeoutMillis: deadlines.job, query_timeout: deadlines.job };

/** The database of the service in the embedded cluster. */
export const databaseName = "outlay";

/**
 * Creates the cluster if it is missing. It is created in another folder and moved when it is complete, so that an interrupted creation
 * never leaves an incomplete cluster in its place.
 * @returns whether it was created now
 * @throws Error with initdb's output
 */
export async function ensureCluster(
  home: Home,
  binaries: Binaries,
  superuserPassword: string,
): Promise<boolean> {
  if (existsSync(join(home.cluster, "PG_VERSION"))) return false;
  for (const name of readdirSync(home.home)) {
    if (name.startsWith("cluster.new")) rmSync(join(home.home, name), { recursive: true, force: true });
  }
  const fresh = join(home.home, "cluster.new");
  const passwordFile = join(home.home, "cluster.new.password");
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, superuserPassword, { mode: 0o600 });
  if (home.account) {
    for (const path of [fresh, passwordFile]) chownSync(path, home.account.uid, home.account.gid);
  }
  try {
    await run(home, binaries.initdb, [
      `--pgdata=${fresh}`,
      "--username=supabase_admin",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Built into Postgres: text sorts the same on every machine and after every upgrade of its C library.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--data-checksums",
      "--no-instructions",
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  chmodSync(fresh, 0o700);
  renameSync(fresh, home.cluster);
  return true;
}

/** Creates the role that runs migrations and the database, if they are missing. Can be repeated. */
export async function ensureDatabase(state: State, port: number): Promise<void> {
  const client = new Client({
    connectionString: loginUrl(state, port, "supabase_admin", "postgres"),
    ...limits,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_catalog.pg_roles where rolname = 'postgres') as role,
              exists (select from pg_catalog.pg_database where datname = $1) as database`,
      [databaseName],
    );
    if (!rows[0]?.role) {
      await client.query("create role postgres login nosuperuser createdb createrole replication bypassrls");
      await client.query('alter role postgres set search_path = "$user", public, extensions');
    }
    await client.query(`alter role postgres password ${escapeLiteral(state.passwords.postgres)}`);
    if (!rows[0]?.database) await client.query(`create database ${databaseName} owner postgres`);
  } finally {
    await client.end();
  }
}

/**
 * Enables the login of a role that a migration created without one.
 * @param superuserUrl of any database of the cluster; roles belong to the cluster
 */
export async function enableLogin(superuserUrl: string, role: string, password: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl, ...limits });
  await client.connect();
  try {
    await client.query(`alter role ${escapeIdentifier(role)} login password ${escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
}

/** The URL of a database for one of the logins. */
export function loginUrl(state: State, port: number, login: Login, database = databaseName): string {
  return `postgresql://${login}:${state.passwords[login]}@127.0.0.1:${port}/${database}`;
}

function run(home: Home, program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...asAccount(home.account),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    const listen = (chunk: Buffer) => {
      said += chunk.toString();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0
        ? resolve()
        : reject(new Error(`The embedded database could not be made:\n${said.trim()}`)),
    );
  });
}
