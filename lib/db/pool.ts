import { attachDatabasePool } from "@vercel/functions";
import { DatabaseError, Pool, type QueryResult, types } from "pg";
import { env, postgresUrl } from "@/lib/env";
import { log } from "@/lib/log";
import { readGauge } from "@/lib/metrics";
import { connectionTo } from "./connection";
import { deadlines } from "./deadlines";
import { Watch } from "./watch";

// A date is a calendar day and not an instant: pg's own parser would add a time zone.
types.setTypeParser(types.builtins.DATE, (text) => text);

/** `url`: the login of the service. `adminUrl`: the owner of the schema, for migrations, seeds and maintenance. */
export type DatabaseUrls = { url: string; adminUrl: string };

/**
 * The purpose of a connection. Reads never take the connections that recording, key lookups and sign-in need, and probes never wait for a
 * connection. `replica` and `probing_replica` are connections to the replica (`POSTGRES_READ_URL`).
 */
export type PoolPurpose = "writing" | "reading" | "probing" | "replica" | "probing_replica";

type Shared = {
  urls?: DatabaseUrls;
  pools: Partial<Record<PoolPurpose, Pool>>;
  watches: { primary: Watch; replica: Watch };
};

// The self-hosted server and the Next bundle in the same process each have a copy of this module, but share the pools.
const globals = globalThis as { [key: symbol]: Shared | undefined };
const slot = Symbol.for("outlay.database");
globals[slot] ??= {
  pools: {},
  watches: {
    primary: new Watch(() => askDatabase("select 1")),
    replica: new Watch(() => askDatabase("select 1", "probing_replica")),
  },
};
const shared: Shared = globals[slot];

/** The watches of all calls of this process to the primary and to the replica. */
export const { watches } = shared;

/** Sets this process's database before the first call: the embedded one, or that of a test. */
export function configureDatabase(urls: DatabaseUrls): void {
  shared.urls = urls;
}

/** This process's database. @throws Error if none is configured */
export function databaseUrls(): DatabaseUrls {
  if (shared.urls) return shared.urls;
  const url = postgresUrl();
  if (!url) throw new Error("No database: set POSTGRES_URL, or start the service with `npm start`.");
  return { url, adminUrl: env().POSTGRES_URL_NON_POOLING ?? url };
}

/**
 * The number of connections for each purpose. POSTGRES_POOL_SIZE is the total to the primary: one for probes, POSTGRES_READ_POOL_SIZE for
 * reads (half of the rest by default), and the others for writes. A replica gets as many for reads.
 */
export function poolSizes({
  POSTGRES_POOL_SIZE: all,
  POSTGRES_READ_POOL_SIZE: wanted,
}: {
  POSTGRES_POOL_SIZE: number;
  POSTGRES_READ_POOL_SIZE?: number | undefined;
}): Record<PoolPurpose, number> {
  const reading = wanted ?? Math.floor((all - 1) / 2);
  return { probing: 1, reading, writing: all - 1 - reading, replica: reading, probing_replica: 1 };
}

/** The process's only pool for a purpose. Statements are unnamed, so that a transaction-mode pooler can be used. */
export function database(purpose: PoolPurpose): Pool {
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

function openPool(purpose: PoolPurpose): Pool {
  const { VERCEL, POSTGRES_READ_URL } = env();
  const isProbe = purpose === "probing" || purpose === "probing_replica";
  const isReplica = purpose === "replica" || purpose === "probing_replica";
  const pool = new Pool({
    ...connectionTo((isReplica && POSTGRES_READ_URL) || databaseUrls().url),
    max: poolSizes(env())[purpose],
    connectionTimeoutMillis: isProbe || isReplica ? deadlines.probe : deadlines.connect,
    // The probe's connection stays open, because a probe should not have to log in first.
    idleTimeoutMillis: isProbe && !VERCEL ? 0 : 30_000,
  });
  // A connection that the server closes must not end this process. The next statement on it fails anyway.
  pool.on("connect", (client) => client.on("error", () => {}));
  // Logs only the message, because pg attaches the connection with its password to the error.
  pool.on("error", ({ message }) => log.warn({ reason: message }, "An idle database connection was lost."));
  // Functions on Vercel are suspended between requests, so idle connections are closed before that.
  if (VERCEL) attachDatabasePool(pool);
  return pool;
}

/**
 * Sends the database a short query on the probe's connection.
 * @param purpose the probe's connection to the primary or to the replica
 * @returns the answer, which may be an error of the database
 * @throws Error if the database does not answer within `deadlines.probe` or cannot be reached
 */
export async function askDatabase(
  text: string,
  purpose: "probing" | "probing_replica" = "probing",
): Promise<QueryResult | DatabaseError> {
  try {
    const client = await database(purpose).connect();
    try {
      const answer = await client.query({ text, query_timeout: deadlines.probe } as { text: string });
      client.release();
      return answer;
    } catch (error) {
      // A late answer would belong to no query, so the connection is not used again.
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
