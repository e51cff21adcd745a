import type { ClientBase } from "pg";
import { float } from "./columns";
import { selectOne } from "./query";
import { sql } from "./sql";

/** The time by the database's clock, milliseconds since 1970, whole. */
export async function selectNow(client: ClientBase): Promise<number> {
  const { now } = await selectOne(
    client,
    { now: float() },
    sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
  );
  return Math.floor(now);
}
