import { Client } from "pg";
import { connectionTo } from "@/lib/db/connection";
import { deadlines } from "@/lib/db/deadlines";
import { type Env, EnvError } from "@/lib/env";

/** Connections in addition to the pools: password checks, migrations, `npm run reconcile`, `psql`. */
const beside = 12;

/** The `max_connections` of an embedded Postgres: Postgres's default, or more if the pools of many workers need it. */
export function connectionsToAllow({ POSTGRES_POOL_SIZE }: Env, processes: number): number {
  // Postgres reserves three connections for superusers.
  return Math.max(100, processes * POSTGRES_POOL_SIZE + beside + 3);
}

/**
 * Refuses workers whose pools can open more connections than the database accepts: requests would then fail under load,
 * long after the start. A single process is not checked.
 * @param adminUrl a direct connection to the database
 * @throws EnvError naming the settings
 */
export async function requireConnections(
  adminUrl: string,
  { POSTGRES_POOL_SIZE }: Env,
  processes: number,
): Promise<void> {
  if (processes === 1) return;
  const accepted = await acceptedConnections(adminUrl);
  const needed = processes * POSTGRES_POOL_SIZE + beside;
  if (needed <= accepted) return;
  throw new EnvError(
    `WEB_CONCURRENCY is ${processes}, and each worker opens up to ${POSTGRES_POOL_SIZE} connections (POSTGRES_POOL_SIZE): with ` +
      `${beside} for other work, the database has to accept ${needed}, but it accepts ${accepted}. Lower one of the two, raise ` +
      "max_connections of the database, or put a pooler such as PgBouncer in front of it.",
  );
}

/** The number of connections that logins other than superusers may open. */
async function acceptedConnections(adminUrl: string): Promise<number> {
  const client = new Client({
    ...connectionTo(adminUrl),
    connectionTimeoutMillis: deadlines.job,
    query_timeout: deadlines.job,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ accepted: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int as accepted`,
    );
    return rows[0]?.accepted ?? 0;
  } finally {
    await client.end();
  }
}
