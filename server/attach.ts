import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { holderOf } from "@/lib/db/embedded/claim.mjs";
import { loginUrl } from "@/lib/db/embedded/cluster";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { hasState, readState } from "@/lib/db/embedded/state";
import { configureDatabase, type DatabaseUrls } from "@/lib/db/pool";
import { type Env, postgresUrl } from "@/lib/env";

/** How long a command waits for the Postgres of a service that is starting. */
const waitLimitMs = 20_000;

/**
 * Configures this process for the service's database, for a command that runs beside the service: the database in the
 * settings, otherwise the embedded one. Uses the Postgres of a running service; if none runs, starts one until the
 * command ends.
 * @returns a function to call at the end
 * @throws Error with a message for users
 */
export async function attachDatabase(settings: Env, root: string): Promise<() => Promise<void>> {
  const url = postgresUrl(settings);
  if (url) {
    configureDatabase({ url, adminUrl: settings.POSTGRES_URL_NON_POOLING ?? url });
    return async () => {};
  }
  const dataDir = resolve(root, settings.OUTLAY_DATA_DIR);
  if (!hasState(dataDir)) {
    throw new Error(`There is no database in ${dataDir} yet. Start the service once, or set POSTGRES_URL.`);
  }
  if (holderOf(dataDir)) {
    configureDatabase(await runningDatabase(dataDir));
    return async () => {};
  }
  const server = await startEmbeddedPostgres({
    dataDir,
    log: (message) => process.stderr.write(`${message}\n`),
  });
  // An interrupted command stops the Postgres that it started.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void server.stop().finally(() => process.exit(130)));
  }
  configureDatabase({ url: server.url, adminUrl: server.adminUrl });
  return server.stop;
}

/** The addresses of a running service's Postgres. */
async function runningDatabase(dataDir: string): Promise<DatabaseUrls> {
  const giveUpAt = Date.now() + waitLimitMs;
  for (;;) {
    // Reads the state each time, because a starting service may give its Postgres another port.
    const state = readState(dataDir);
    const adminUrl = loginUrl(state, state.port ?? 0, "postgres");
    const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return { url: loginUrl(state, state.port ?? 0, "outlay_service"), adminUrl };
    } catch (cause) {
      await client.end().catch(() => {});
      if (Date.now() > giveUpAt) {
        throw new Error("The service runs, but its database cannot be reached. Try again when it is ready.", {
          cause,
        });
      }
      await wait(250);
    }
  }
}
