import type { ClientBase } from "pg";
import { notFound, ServiceError } from "@/lib/errors";
import { type DeletedKind, restore, sweep } from "./deletion-queries";

export { keepDeleted } from "./deletion-queries";

/**
 * Puts something back that was deleted in the last ten minutes, with its id and what belonged to it. The database checks the
 * role of the transaction's user again.
 * @param limit how many of its kind there may be, and what a refusal says
 * @throws ServiceError not_found where it is too late, or it was never there or is another's; conflict where there are too many
 */
export async function restoreDeleted(
  client: ClientBase,
  kind: DeletedKind,
  workspaceId: string,
  id: string,
  limit?: { atMost: number; message: string },
): Promise<void> {
  const outcome = await restore(client, kind, workspaceId, id, limit?.atMost ?? null);
  if (outcome === "unknown") throw notFound();
  if (outcome === "full")
    throw new ServiceError("conflict", limit?.message ?? "There are too many.", { limit: limit?.atMost });
}

const atATime = 1_000;

/** Deletes for good what nobody took back in time. @returns how many */
export async function sweepDeleted(): Promise<number> {
  let all = 0;
  for (;;) {
    const swept = await sweep(atATime);
    all += swept;
    if (swept < atATime) return all;
  }
}
