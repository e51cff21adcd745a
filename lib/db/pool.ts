import { attachDatabasePool } from "@vercel/functions";
import { DatabaseError, Pool, type QueryResult, types } from "pg";
import { env, postgresUrl } from "@/lib/env";
import { log } from "@/lib/log";
import { readGauge } from "@/lib/metrics";
import { connectionTo } from "./connection";
import { deadlines } from "./deadlines";
import { Watch } from "./watch";

// A date is a calendar day, not an instant: pg's own parser would give it a time zone.
types.setTypeParser(types.builtins.DATE, (text) => text);

/** `url` is what the service works through; `adminUrl` owns the schema: migrations, seeds and maintenance. */
export type DatabaseUrls = { url: string; adminUrl: string };

/**
 * What a connection is for. Reads never take those that recording, looking keys up and signing in need; the one for
 * probes waits for nobody.
 */
export type Purpose = "writing" | "reading" | "probing";

type Shared = { urls?: DatabaseUrls; pools: Partial<Record<Purpose, Pool>>; watch: Watch };

// The self-hosted server and the Next bundle in the same process each have a copy of this module; the pools are one.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.database");
globals[slot] ??= { pools: {}, watch: new Watch(() => askDatabase("select 1")) };
const shared: Shared = globals[slot];

/** Watches over every call of the database in this process. */
export const { watch } = shared;

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

/**
 * How many connections there are for each purpose. POSTGRES_POOL_SIZE is their sum; of it, one is for probes, and
 * POSTGRES_READ_POOL_SIZE for reads, half of the rest where that is not set.
 */
export function poolSizes({
  POSTGRES_POOL_SIZE: all,
  POSTGRES_READ_POOL_SIZE: wanted,
}: {
  POSTGRES_POOL_SIZE: number;
  POSTGRES_READ_POOL_SIZE?: number | undefined;
}): Record<Purpose, number> {
  const reading = wanted ?? Math.floor((all - 1) / 2);
  return { probing: 1, reading, writing: all - 1 - reading };
}

/** The process's one pool for a purpose. Statements are unnamed, so that a transaction-mode pooler may stand in between. */
export function database(purpose: Purpose): Pool {
  shared.pools[purpose] ??= openPool(purpose);
  return shared.pools[purpose];
}

readGauge("outlay_database_connections", () =>
  Object.entries(shared.pools).flatMap(([purpose, { totalCount, idleCount, waitingCount }]) => [
    { labels: { purpose, state: "idle" }, value: idleCount },
    { labels: { purpose, state: "busy" }, value: totalCount - idleCount },
    { labels: { purpose, state: "wanted" }, value: waitingCount },
  ]),
);

function openPool(purpose: Purpose): Pool {
  const { VERCEL } = env();
  const pool = new Pool({
    ...connectionTo(databaseUrls().url),
    max: poolSizes(env())[purpose],
    connectionTimeoutMillis: purpose === "probing" ? deadlines.probe : deadlines.connect,
    // The probe's stays open: what asks whether the database is there should not have to begin by signing in.
    idleTimeoutMillis: purpose === "probing" && !VERCEL ? 0 : 30_000,
  });
  // A connection that the server closes is not this process's end: not an idle one, nor one in use, whose statement
  // is refused all the same.
  pool.on("connect", (client) => client.on("error", () => {}));
  // Not the error itself: pg hangs the connection on it, and on that its password.
  pool.on("error", ({ message }) => log.warn({ reason: message }, "An idle database connection was lost."));
  // Functions on Vercel are suspended between requests: idle connections are closed before that.
  if (VERCEL) attachDatabasePool(pool);
  return pool;
}

/**
 * Asks the database something short on the connection that is kept for this.
 * @returns its answer; the error it answered with counts as one, and is returned
 * @throws where it does not answer within `deadlines.probe`, or cannot be reached
 */
export async function askDatabase(text: string): Promise<QueryResult | DatabaseError> {
  try {
    const client = await database("probing").connect();
    try {
      const answer = await client.query({ text, query_timeout: deadlines.probe } as { text: string });
      client.release();
      return answer;
    } catch (error) {
      // It may yet answer, to nobody: the connection is not used again.
      client.release(error instanceof Error ? error : true);
      throw error;
    }
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}

/** Waits for running statements and closes every connection. */
export async function closeDatabase(): Promise<void> {
  const pools = Object.values(shared.pools);
  shared.pools = {};
  await Promise.all(pools.map((pool) => pool.end()));
}
