import type { ClientBase } from "pg";
import { date, nullable } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

/**
 * The day before which messages of a workspace were removed; null where none were. No role of a user or key may ask: runs
 * as the service (`asServiceWithin`).
 */
export async function selectRemovedBefore(client: ClientBase, workspaceId: string): Promise<string | null> {
  const { before } = await selectOne(
    client,
    { before: nullable(date()) },
    sql`select private.messages_removed_before(${workspaceId}) as before`,
  );
  return before;
}
