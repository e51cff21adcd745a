import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { date, nullable } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { asServiceWithin } from "@/lib/db/transaction";

/**
 * The first day (`YYYY-MM-DD`, UTC) whose messages were kept, if a range begins before it. Earlier messages were removed
 * (`npm run retention`), and only their sums are left. Null if no messages of the range were removed. The caller must have
 * checked that the transaction's user or key may read the workspace.
 */
export async function removedWithin(
  client: ClientBase,
  workspaceId: string,
  { from }: Pick<DayRange, "from">,
  role: "authenticated" | "outlay_key" = "authenticated",
): Promise<string | null> {
  const before = await asServiceWithin(client, () => selectRemovedBefore(client, workspaceId), role);
  return before !== null && from < before ? before : null;
}

/**
 * The day before which messages of a workspace were removed; null if none were. The roles of users and keys cannot read it: runs
 * as the service (`asServiceWithin`).
 */
async function selectRemovedBefore(client: ClientBase, workspaceId: string): Promise<string | null> {
  const { before } = await selectOne(
    client,
    { before: nullable(date()) },
    sql`select private.messages_removed_before(${workspaceId}) as before`,
  );
  return before;
}
