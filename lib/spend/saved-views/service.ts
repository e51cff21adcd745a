import type { ClientBase } from "pg";
import type { z } from "zod";
import { restoreDeleted, storeDeleted } from "@/lib/access/restore-deleted";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import {
  maxViewsEach,
  type SavedView,
  type SaveViewRequest,
  type savedViewList,
} from "@/lib/contract/spend/saved-views";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { countViews, deleteView, insertView, selectViews, type ViewRow } from "./saved-view-queries";

/** Lists the views that a member saved or that are shared. @throws ServiceError not_found */
export function listViews(claims: UserClaims, slug: string): Promise<z.output<typeof savedViewList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return { views: await loadViews(client, { workspaceId: id, role, userId: claims.sub }) };
  });
}

/** The views that a member sees, in the caller's transaction. */
export async function loadViews(
  client: ClientBase,
  { workspaceId, role, userId }: { workspaceId: string; role: WorkspaceRole; userId: string },
): Promise<SavedView[]> {
  const rows = await selectViews(client, workspaceId);
  return rows.map((row) => toView(row, role, userId));
}

/**
 * Saves a view. Viewers may save only private ones.
 * @throws ServiceError not_found, permission_denied, conflict if the user has too many
 */
export function saveView(claims: UserClaims, slug: string, request: SaveViewRequest): Promise<SavedView> {
  return asUser(claims, async (client) => {
    const required = request.is_shared ? "member" : "viewer";
    const { id: workspaceId, role } = await requireMembership(client, claims, slug, required);
    if ((await countViews(client, workspaceId, claims.sub)) >= maxViewsEach)
      throw new ServiceError("conflict", tooMany);
    const id = await insertView(client, workspaceId, request);
    const [row] = await selectViews(client, workspaceId, id);
    if (!row) throw new Error("The saved view cannot be read.");
    return toView(row, role, claims.sub);
  });
}

/**
 * Deletes a view of the caller, or as an admin a shared one.
 * @returns the deleted view
 * @throws ServiceError not_found, permission_denied
 */
export function removeView(claims: UserClaims, slug: string, id: string): Promise<SavedView> {
  return asUser(claims, async (client) => {
    const { id: workspaceId, role } = await requireMembership(client, claims, slug);
    const [row] = await selectViews(client, workspaceId, id);
    if (!row) throw notFound();
    const view = toView(row, role, claims.sub);
    await storeDeleted(client, "saved_view", workspaceId, id);
    if (!view.can_delete || !(await deleteView(client, workspaceId, id)))
      throw new ServiceError(
        "permission_denied",
        "Only the person who saved a shared view, or an admin, can delete it.",
      );
    return view;
  });
}

/**
 * Restores a view that was deleted in the last ten minutes: one of the caller, or as an admin a shared one.
 * @throws ServiceError not_found, conflict if its maker has too many by now
 */
export function restoreView(claims: UserClaims, slug: string, id: string): Promise<SavedView> {
  const limit = { atMost: maxViewsEach, message: tooMany };
  return restoreDeleted(
    claims,
    slug,
    id,
    { kind: "saved_view", limit },
    async (client, workspaceId, role) => {
      const [row] = await selectViews(client, workspaceId, id);
      if (!row) throw new Error("The restored view cannot be read.");
      return toView(row, role, claims.sub);
    },
  );
}

const tooMany = `You may save ${maxViewsEach} views in a workspace. Delete one that you do not need any more.`;

function toView(
  { created_by: userId, created_by_name: displayName, created_at: createdAt, ...row }: ViewRow,
  role: WorkspaceRole,
  readerId: string,
): SavedView {
  return {
    ...row,
    created_by: { user_id: userId, display_name: displayName },
    created_at: toInstant(createdAt.getTime()),
    can_delete: userId === readerId || (row.is_shared && ["owner", "admin"].includes(role)),
  };
}
