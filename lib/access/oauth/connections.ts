import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { connection, connectionList, revokedConnection } from "@/lib/contract/access/connections";
import type { Membership } from "@/lib/contract/access/me";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { shownRedirect, vouchingHost } from "./consent";
import { type ConnectionRow, deleteConnection, selectConnections } from "./oauth-queries";

/** Lists the programs connected to a workspace, for its members, newest first. @throws ServiceError not_found */
export function listConnections(claims: UserClaims, slug: string): Promise<z.output<typeof connectionList>> {
  return asUserReading(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    const rows = await selectConnections(client, workspace.id);
    return { connections: rows.map((row) => toConnection(row, canRevoke(row, claims, workspace))) };
  });
}

/**
 * Revokes a connection, with immediate effect in every process. Allowed to its user and to the workspace's admins.
 * @throws ServiceError not_found; permission_denied for another member's connection
 */
export function revokeConnection(
  claims: UserClaims,
  slug: string,
  id: string,
): Promise<z.output<typeof revokedConnection>> {
  return asUser(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    const row = (await selectConnections(client, workspace.id)).find((each) => each.id === id);
    if (!row) throw notFound();
    if (!canRevoke(row, claims, workspace)) {
      throw new ServiceError(
        "permission_denied",
        "This connection is another member's. They can revoke it, and so can an admin.",
        { role: workspace.role },
      );
    }
    if (!(await deleteConnection(client, workspace.id, id))) throw notFound();
    return { id, revoked: true as const };
  });
}

function canRevoke(row: ConnectionRow, claims: UserClaims, { role }: Membership): boolean {
  return row.user_id === claims.sub || role === "owner" || role === "admin";
}

function toConnection(row: ConnectionRow, mayRevoke: boolean): z.output<typeof connection> {
  const { project_id: projectId, project_slug: slug, project_name: name } = row;
  return {
    id: row.id,
    client: {
      id: row.client_id,
      name: row.client_name,
      uri: row.client_uri,
      host: vouchingHost({ id: row.client_id, kind: row.client_kind }),
      redirect_host: shownRedirect(row.redirect_uri),
    },
    user: { id: row.user_id, email: row.email, display_name: row.display_name },
    permissions: row.permissions,
    project: projectId && slug && name ? { id: projectId, slug, name } : null,
    monthly_limit: row.monthly_limit === null ? null : new ExactNumber(row.monthly_limit),
    spent: new ExactNumber(row.spent),
    created_at: toInstant(row.created_at.getTime()),
    last_used_at: row.last_used_at && toInstant(row.last_used_at.getTime()),
    can_revoke: mayRevoke,
  };
}
