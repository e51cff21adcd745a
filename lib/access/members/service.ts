import type { ClientBase, PoolClient } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import type { Member, transferResult } from "@/lib/contract/access/members";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, type UserClaims, violatedConstraint } from "@/lib/db/transaction";
import { notFound, ServiceError, validationFailed } from "@/lib/errors";
import { deleteMember, lockRoles, type MemberRow, selectMembers, updateRole } from "./member-queries";

/** All members of a workspace, owners first. The transaction runs as one of them. */
export async function loadMembers(client: ClientBase, workspaceId: string): Promise<Member[]> {
  return (await selectMembers(client, workspaceId)).map(toMember);
}

/**
 * Changes a member's role. Owners may change anybody's role, admins anybody's but an owner's.
 * @throws ServiceError not_found, permission_denied, conflict for the last owner
 */
export function changeRole(
  claims: UserClaims,
  slug: string,
  userId: string,
  role: WorkspaceRole,
): Promise<Member> {
  return explainingLastOwner(claims, async (client) => {
    const own = await requireMembership(client, claims, slug, "admin");
    const member = await findMember(client, own.id, userId);
    if (own.role !== "owner" && [member.role, role].includes("owner")) throw refuseNonOwner(own.role);
    if (!(await updateRole(client, own.id, userId, role))) throw notFound();
    return { ...member, role };
  });
}

/**
 * Ends a membership. Members end their own (leave), admins those of others, and only owners an owner's.
 * @returns the membership as it was
 * @throws ServiceError not_found, permission_denied, conflict for the last owner
 */
export function removeMember(claims: UserClaims, slug: string, userId: string): Promise<Member> {
  return explainingLastOwner(claims, async (client) => {
    const isLeaving = userId === claims.sub;
    const own = await requireMembership(client, claims, slug, isLeaving ? "viewer" : "admin");
    const member = await findMember(client, own.id, userId);
    if (member.role === "owner" && own.role !== "owner") throw refuseNonOwner(own.role);
    if (!(await deleteMember(client, own.id, userId))) throw notFound();
    return member;
  });
}

/**
 * Transfers ownership in one transaction: another member becomes the owner, and the present owner an admin.
 * @throws ServiceError not_found if the other is not a member, permission_denied unless the caller is an owner
 */
export function transferOwnership(
  claims: UserClaims,
  slug: string,
  userId: string,
): Promise<z.output<typeof transferResult>> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "owner");
    if (userId === claims.sub) throw validationFailed([{ path: "user_id", message: "is already the owner" }]);
    // Checks again under the lock: a transfer at the same time may have taken the ownership.
    const roles = await lockRoles(client, id, [claims.sub, userId]);
    if (!roles.has(userId)) throw notFound();
    const own = roles.get(claims.sub);
    if (own !== "owner") throw refuseNonOwner(own ?? "none any more");
    await updateRole(client, id, userId, "owner");
    await updateRole(client, id, claims.sub, "admin");
    const owner = await findMember(client, id, userId);
    return { owner, former_owner: await findMember(client, id, claims.sub) };
  });
}

async function findMember(client: ClientBase, workspaceId: string, userId: string): Promise<Member> {
  const [row] = await selectMembers(client, workspaceId, userId);
  if (!row) throw notFound();
  return toMember(row);
}

function toMember({ joined_at, ...member }: MemberRow): Member {
  return { ...member, joined_at: toInstant(joined_at.getTime()) };
}

function refuseNonOwner(role: string): ServiceError {
  return new ServiceError(
    "permission_denied",
    `Only an owner can make, change or remove an owner; your role is ${role}.`,
    { role },
  );
}

/** Turns the database's refusal to remove the last owner into an error that says what to do. */
function explainingLastOwner(
  claims: UserClaims,
  run: (client: PoolClient) => Promise<Member>,
): Promise<Member> {
  return asUser(claims, run).catch((error: unknown) => {
    if (violatedConstraint(error) !== "workspace_members_keep_an_owner") throw error;
    throw new ServiceError(
      "conflict",
      "A workspace keeps at least one owner. Transfer the ownership to another member first.",
    );
  });
}
