import type { ClientBase } from "pg";
import { notFound, ServiceError } from "@/lib/errors";

/** What a member may do: viewers read, members manage the keys they made, admins everything, owners also the workspace. */
export type Role = "owner" | "admin" | "member" | "viewer";

/** A workspace the caller is a member of. */
export type Membership = { workspaceId: string; role: Role };

const ranks: Role[] = ["viewer", "member", "admin", "owner"];

/**
 * The caller's membership of a workspace, in a transaction that runs as the caller.
 * @param least the least role that may go on
 * @throws ServiceError not_found to strangers, as where there is no such workspace; permission_denied to lesser members
 */
export async function requireMembership(client: ClientBase, slug: string, least: Role = "viewer"): Promise<Membership> {
  const { rows } = await client.query<{ id: string; role: Role }>(
    `select w.id, m.role
     from public.workspaces as w
     join public.workspace_members as m on m.workspace_id = w.id and m.user_id = (select auth.uid())
     where w.slug = $1`,
    [slug],
  );
  const [found] = rows;
  if (!found) throw notFound();
  if (ranks.indexOf(found.role) < ranks.indexOf(least)) {
    const wanted = ranks.slice(ranks.indexOf(least)).join(" or ");
    throw new ServiceError("permission_denied", `This needs the role ${wanted} in the workspace; yours is ${found.role}.`, {
      role: found.role,
    });
  }
  return { workspaceId: found.id, role: found.role };
}
