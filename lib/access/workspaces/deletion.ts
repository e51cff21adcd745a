import { requireRecentSignIn } from "@/lib/access/sign-in/recent-sign-in";
import type { DeletedWorkspace, Membership } from "@/lib/contract/access/me";
import type { DeleteWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, asServiceWithin, asUser, isContention, type UserClaims } from "@/lib/db/transaction";
import { ServiceError, validationFailed } from "@/lib/errors";
import { readDeleted, requireMembership, requireMembershipOfDeleted } from "./membership";

/**
 * Deletes a workspace, for an owner who signed in within the last hour and gives its name. At once nobody can use it any more;
 * `restoreWorkspace` undoes that for thirty days, after which `eraseWorkspaces` erases it. Every member is notified by mail.
 * @throws ServiceError not_found, mfa_required, workspace_deleted where it is deleted already, permission_denied,
 *   recent_sign_in_required, validation_failed for another name, conflict for the demo
 */
export function deleteWorkspace(
  claims: UserClaims,
  slug: string,
  { name }: DeleteWorkspaceRequest,
): Promise<DeletedWorkspace> {
  return asUser(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug, "owner");
    if (workspace.type === "demo")
      throw new ServiceError("conflict", "The demo workspace belongs to the service and cannot be deleted.");
    if (name.trim() !== workspace.name.trim())
      throw validationFailed([
        { path: "name", message: `must be the name of the workspace: ${workspace.name}` },
      ]);
    requireRecentSignIn(claims);
    const isDone = await asServiceWithin(client, () =>
      callFunction<boolean>(client, "private.delete_workspace", workspace.id),
    );
    const deleted = (await readDeleted(client)).find((one) => one.id === workspace.id);
    // Somebody else was first, and may have undone it again.
    if (!(isDone && deleted))
      throw new ServiceError("conflict", "The workspace was deleted at the same time.");
    const { id: _, require_mfa: __, ...shown } = deleted;
    return shown;
  });
}

/**
 * Undoes the deletion of a workspace, for its owners: it is as it was, and its keys and connections work again. Changes nothing
 * where it is not deleted.
 * @throws ServiceError not_found, also after thirty days; mfa_required, permission_denied
 */
export function restoreWorkspace(claims: UserClaims, slug: string): Promise<Membership> {
  return asUser(claims, async (client) => {
    const { id, isDeleted } = await requireMembershipOfDeleted(client, claims, slug, "owner");
    if (isDeleted)
      await asServiceWithin(client, () => callFunction<boolean>(client, "private.restore_workspace", id));
    return requireMembership(client, claims, slug, "owner");
  });
}

/** Rows deleted in one transaction. */
const rowsAStep = 2_000;

/** How long one run goes on: a platform that runs jobs by requests ends them. */
const maxRunMs = 20_000;

/**
 * Erases workspaces that were deleted more than thirty days ago, row by row. Safe to run in every process, and to be killed:
 * each step is a transaction, and the next one goes on with what is left.
 * @returns how many rows were deleted
 */
export async function eraseWorkspaces(): Promise<number> {
  const beganMs = performance.now();
  let total = 0;
  while (performance.now() - beganMs < maxRunMs) {
    const gone = await eraseStep();
    if (gone === null) break;
    total += gone;
  }
  return total;
}

async function eraseStep(): Promise<number | null> {
  try {
    return await asService(
      (client) => callFunction<number | null>(client, "private.erase_workspace_step", rowsAStep),
      deadlines.job,
    );
  } catch (error) {
    // Another process reads or empties the same rows: once more.
    if (isContention(error)) return 0;
    throw error;
  }
}
