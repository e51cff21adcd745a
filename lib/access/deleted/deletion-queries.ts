import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import { asService, asServiceWithin } from "@/lib/db/transaction";

/** What can be had back for ten minutes after it was deleted. */
export type DeletedKind = "budget" | "saved_view" | "alert_channel" | "invitation";

/**
 * Keeps something for ten minutes, with all that belongs to it, so that deleting it can be undone. Call it in the transaction
 * that deletes, before the deletion; if the deletion is refused, nothing is kept.
 */
export async function keepDeleted(
  client: ClientBase,
  kind: DeletedKind,
  workspaceId: string,
  id: string,
): Promise<void> {
  await asServiceWithin(client, () => callFunction(client, "private.keep_deleted", kind, workspaceId, id));
}

/**
 * Puts something back, if the transaction's user may.
 * @param atMost how many of its kind there may be
 */
export function restore(
  client: ClientBase,
  kind: DeletedKind,
  workspaceId: string,
  id: string,
  atMost: number | null,
): Promise<"restored" | "unknown" | "full"> {
  return asServiceWithin(client, () =>
    callFunction(client, "private.restore_deleted", kind, workspaceId, id, atMost),
  );
}

/** Deletes for good what nobody took back in time. @returns how many */
export function sweep(atMost: number): Promise<number> {
  return asService((client) => callFunction(client, "private.sweep_deleted_things", atMost));
}
