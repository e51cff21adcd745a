import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { asServiceWithin } from "@/lib/db/transaction";
import { selectRemovedBefore } from "./spend-queries";

/**
 * The first day (`YYYY-MM-DD`, UTC) whose messages were kept, where a range begins before it: earlier messages were removed
 * (`npm run retention`), and only their sums are left. Null where none of the range were removed. The caller has checked
 * that the transaction's user or key may read the workspace.
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
