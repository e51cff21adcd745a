import type { ClientBase, PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { callFunction } from "@/lib/db/query";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";

/** What can be restored for ten minutes after it was deleted. */
type DeletedKind = "budget" | "saved_view" | "alert_channel" | "invitation";

/**
 * Keeps a copy of something and all that belongs to it for ten minutes, so that its deletion can be undone. Call it before the
 * deletion, in the same transaction; if the deletion is refused, nothing is kept.
 */
export async function storeDeleted(
  client: ClientBase,
  kind: DeletedKind,
  workspaceId: string,
  id: string,
): Promise<void> {
  await asServiceWithin(client, () => callFunction(client, "private.keep_deleted", kind, workspaceId, id));
}

/**
 * Restores something that was deleted in the last ten minutes, with its id and what belonged to it, and reads it. The database
 * checks the role of the user again.
 * @param asked.role who may restore its kind; the default is every member
 * @param asked.limit how many of its kind there may be, and what a refusal says
 * @throws ServiceError not_found if the ten minutes are over, it never existed, or it belongs to another; permission_denied;
 *   conflict if there are too many
 */
export function restoreDeleted<Restored>(
  claims: UserClaims,
  slug: string,
  id: string,
  { kind, role, limit }: { kind: DeletedKind; role?: "admin"; limit?: { atMost: number; message: string } },
  read: (client: PoolClient, workspaceId: string, role: WorkspaceRole) => Promise<Restored>,
): Promise<Restored> {
  return asUser(claims, async (client) => {
    const membership = await requireMembership(client, claims, slug, role);
    const outcome = await asServiceWithin(client, () =>
      callFunction<"restored" | "unknown" | "full">(
        client,
        "private.restore_deleted",
        kind,
        membership.id,
        id,
        limit?.atMost ?? null,
      ),
    );
    if (outcome === "unknown") throw notFound();
    if (outcome === "full")
      throw new ServiceError("conflict", limit?.message ?? "", { limit: limit?.atMost });
    return read(client, membership.id, membership.role);
  });
}
