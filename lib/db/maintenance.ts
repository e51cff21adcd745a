import { Client } from "pg";
import { connectionTo } from "./connection";
import { deadlines } from "./deadlines";
import { databaseUrls } from "./pool";
import { execute } from "./query";
import { sql } from "./sql";

/**
 * Calls `run` with a direct connection of the database's owner, for a command whose statements may take long. The connection
 * is closed afterwards.
 * @throws Error if the database cannot be reached, and what `run` throws
 */
export async function withMaintenanceClient<T>(run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    ...connectionTo(databaseUrls().adminUrl),
    connectionTimeoutMillis: 10_000,
    query_timeout: deadlines.maintenance,
  });
  // A connection lost between two statements fails the next one.
  client.on("error", () => {});
  await client.connect();
  try {
    await execute(client, sql`set statement_timeout = 0`);
    return await run(client);
  } finally {
    await client.end();
  }
}
