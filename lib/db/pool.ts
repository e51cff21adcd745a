import { attachDatabasePool } from "@vercel/functions";
import { Pool, types } from "pg";
import { env, postgresUrl } from "@/lib/env";
import { log } from "@/lib/log";
import { connectionTo } from "./connection";

// A date is a calendar day, not an instant: pg's own parser would give it a time zone.
types.setTypeParser(types.builtins.DATE, (text) => text);

/** `url` is what the service works through; `adminUrl` owns the schema: migrations, seeds and maintenance. */
export type DatabaseUrls = { url: string; adminUrl: string };

type Shared = { urls?: DatabaseUrls; pool?: Pool };

// The self-hosted server and the Next bundle in the same process each have a copy of this module; the pool is one.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.database");
globals[slot] ??= {};
const shared: Shared = globals[slot];

/** Points this process at a database before anything asks for it: the embedded one, or a test's. */
export function configureDatabase(urls: DatabaseUrls): void {
  shared.urls = urls;
}

/** Where this process's database is. @throws Error when there is none configured. */
export function databaseUrls(): DatabaseUrls {
  if (shared.urls) return shared.urls;
  const url = postgresUrl();
  if (!url) throw new Error("No database: set POSTGRES_URL, or start the service with `npm start`.");
  return { url, adminUrl: env().POSTGRES_URL_NON_POOLING ?? url };
}

/** The process's one pool. Statements are unnamed, so that a transaction-mode pooler may stand in between. */
export function database(): Pool {
  if (!shared.pool) {
    shared.pool = new Pool({
      ...connectionTo(databaseUrls().url),
      max: env().POSTGRES_POOL_SIZE,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
    });
    // A connection that the server closes is not this process's end: not an idle one, nor one in use, whose statement
    // is refused all the same.
    shared.pool.on("connect", (client) => client.on("error", () => {}));
    // Not the error itself: pg hangs the connection on it, and on that its password.
    shared.pool.on("error", ({ message }) =>
      log.warn({ reason: message }, "An idle database connection was lost."),
    );
    // Functions on Vercel are suspended between requests: idle connections are closed before that.
    if (env().VERCEL) attachDatabasePool(shared.pool);
  }
  return shared.pool;
}

/** Waits for running statements and closes every connection. */
export async function closeDatabase(): Promise<void> {
  const { pool } = shared;
  delete shared.pool;
  await pool?.end();
}
