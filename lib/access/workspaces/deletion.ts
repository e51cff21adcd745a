import { requireRecentSignIn } from "@/lib/access/sign-in/recent-sign-in";
import type { DeletedWorkspace, Membership } from "@/lib/contract/access/me";
import type { DeleteWorkspaceRequest } from "@/lib/contract/access/workspaces";
import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { callFunction } from "@/lib/db/query";
import { asService, asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { ServiceError, validationFailed } from "@/lib/errors";
import { readDeleted, requireMembership, requireMembershipOfDeleted } from "./membership";

/**
 * Deletes a workspace, for an owner who signed in within the last hour and confirms its name. From then on nobody can use it.
 * `restoreWorkspace` undoes the deletion for thirty days; then `eraseWorkspaces` erases it. Every member is notified by mail.
 * @throws ServiceError not_found, mfa_required, workspace_deleted if it is deleted already, permission_denied,
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
    // Another request deleted it first, and it may have been restored since.
    if (!(isDone && deleted))
      throw new ServiceError("conflict", "The workspace was deleted at the same time.");
    const { id: _, require_mfa: __, ...shown } = deleted;
    return shown;
  });
}

/**
 * Undoes the deletion of a workspace, for its owners: its keys and connections work again. Does nothing if it is not deleted.
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

/** The longest that one run takes, because platforms that run jobs by requests limit their duration. */
const maxRunMs = 20_000;

/**
 * Erases workspaces that were deleted more than thirty days ago, in steps. Can run in several processes and be killed at any
 * time: each step is a transaction, and the next one continues with the rows that are left.
 * @returns how many rows were deleted
 */
export function eraseWorkspaces(): Promise<number> {
  const beganMs = performance.now();
  return runSteps(
    () =>
      asService(
        (client) => callFunction<number | null>(client, "private.erase_workspace_step", rowsAStep),
        deadlines.job,
      ),
    () => performance.now() - beganMs < maxRunMs,
  );
}
