import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { accountForPostgres } from "@/lib/db/embedded/account";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { migrate } from "@/lib/db/migrate";
import { makeDataDir, type TestCluster } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { startIdentityProvider } from "./identity-provider";
import { startMailSink } from "./mail-sink";
import { startPooler } from "./pooler";
import { authProgram, settingsOfAuth } from "./project";

/** The certificate of `localhost`, and the authority that signed it. */
export const certificates = join(projectRoot, "tests/fixtures/tls");

/**
 * Starts what the projects of a run share: Postgres 17 with the roles of a Supabase project and TLS, PgBouncer in transaction mode
 * in front of it, and a mail server that keeps what it receives. The template database has the tables of Supabase Auth, made by
 * its own migrations, and our schema, made by the login of migrations, which is not a superuser.
 * @throws Error when a part is missing or does not start; it says which
 */
export async function startHostedCluster(): Promise<{ cluster: TestCluster; stop(): Promise<void> }> {
  const [dataDir, folder] = [makeDataDir(), makeDataDir()];
  const stops: (() => unknown)[] = [
    () => {
      for (const each of [dataDir, folder]) rmSync(each, { recursive: true, force: true });
    },
  ];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const keyFile = copyCertificates(folder);
    const server = await startEmbeddedPostgres({
      dataDir,
      log: () => {},
      overrides: {
        ...{ ssl: "on", ssl_cert_file: join(folder, "server.pem"), ssl_key_file: keyFile },
        ...{ fsync: "off", full_page_writes: "off", max_connections: "300", scram_iterations: "1" },
      },
    });
    stops.push(() => server.stop());
    const password = randomBytes(16).toString("hex");
    const authUrl = login(server.superuserUrl, "supabase_auth_admin", password);
    await setUpRoles(server.superuserUrl, password);
    runAuthMigrations(authUrl);
    await keepUnmigrated(server.superuserUrl);
    await migrate(server.adminUrl, join(projectRoot, "supabase/migrations"));
    await server.enableServiceLogin();
    const mails = await startMailSink();
    stops.push(mails.stop);
    const pooler = await startPooler({ folder, keyFile, server: server.url });
    stops.push(pooler.stop);
    const identities = await startIdentityProvider();
    stops.push(identities.stop);
    const { superuserUrl, adminUrl, url } = server;
    // The certificate is for this name, and a service that is given an authority uses TLS for migrations too.
    const template = new URL(url).pathname.slice(1);
    const hosted = {
      authUrl,
      pooledUrl: pooler.url,
      mails: mails.url,
      smtpPort: mails.smtpPort,
      identities: { url: identities.url, secret: identities.secret },
    };
    return {
      cluster: {
        superuserUrl,
        adminUrl: adminUrl.replace("127.0.0.1", "localhost"),
        url,
        template,
        folder: dataDir,
        hosted,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Copies the certificate to where the account of Postgres and PgBouncer may read it. @returns the file of its key */
function copyCertificates(folder: string): string {
  cpSync(certificates, folder, { recursive: true });
  const keyFile = join(folder, "server.key");
  const account = accountForPostgres(undefined);
  if (account) chownSync(keyFile, account.uid, account.gid);
  chmodSync(keyFile, 0o600);
  return keyFile;
}

/** Creates the roles, schemas and grants of a new project. */
async function setUpRoles(superuserUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    for (const file of ["bootstrap/10_create_roles.sql", "bootstrap/20_create_schemas.sql"])
      await client.query(readFileSync(join(projectRoot, "supabase", file), "utf8"));
    await client.query(readFileSync(join(projectRoot, "tests/supabase/init.sql"), "utf8"));
    await client.query(`alter role supabase_auth_admin password '${password}'`);
  } finally {
    await client.end();
  }
}

/** The name of the template database as it is before our migrations. */
export const unmigrated = "outlay_unmigrated";

async function keepUnmigrated(superuserUrl: string): Promise<void> {
  const url = new URL(superuserUrl);
  const template = url.pathname.slice(1);
  url.pathname = "/postgres";
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`create database ${unmigrated} owner postgres template ${template}`);
  } finally {
    await client.end();
  }
}

function runAuthMigrations(authUrl: string): void {
  const env = settingsOfAuth({ authUrl, port: 0, url: "http://127.0.0.1:1", smtpPort: 1 });
  const { status, stdout, stderr } = spawnSync(authProgram(), ["migrate"], { env, encoding: "utf8" });
  if (status !== 0)
    throw new Error(`The migrations of Supabase Auth failed:\n${stdout}${stderr}`.slice(-4_000));
}

/** The address of the same database for another login. */
function login(address: string, user: string, password: string): string {
  const url = new URL(address);
  Object.assign(url, { username: user, password });
  return url.href;
}
