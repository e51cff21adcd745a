import type { ClientBase, PoolClient } from "pg";
import type { CurrentUser, DeletedWorkspace, Membership, WorkspaceRole } from "@/lib/contract/access/me";
import { toInstant } from "@/lib/contract/values/instant";
import { provedSecondFactor } from "@/lib/db/second-factor";
import { asServiceWithin, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import {
  selectDeletedMemberships,
  selectLockedWorkspaces,
  selectMemberships,
  selectProfile,
} from "./workspace-queries";

/** In ascending order of rights. */
const ranks: WorkspaceRole[] = ["viewer", "member", "admin", "owner"];

/**
 * Reads a workspace by its slug with the user's role in it. The transaction must run as the user.
 * @param least the least role that is allowed
 * @throws ServiceError not_found if it does not exist or the user is not a member; mfa_required if it requires a second
 *   factor that this session lacks; workspace_deleted if it was deleted; permission_denied for lesser roles
 */
export async function requireMembership(
  client: PoolClient,
  claims: UserClaims,
  slug: string,
  least: WorkspaceRole = "viewer",
): Promise<Membership> {
  const [membership] = await selectMemberships(client, claims.sub, slug);
  if (!membership) throw await explainHidden(client, claims, slug);
  requireRole(membership.role, least);
  return membership;
}

function requireRole(role: WorkspaceRole, least: WorkspaceRole): void {
  if (ranks.indexOf(role) >= ranks.indexOf(least)) return;
  const wanted = ranks.slice(ranks.indexOf(least)).join(" or ");
  throw new ServiceError(
    "permission_denied",
    `This needs the role ${wanted} in the workspace; yours is ${role}.`,
    { role },
  );
}

/** A deleted workspace of the user, with fields that the API does not show. */
export type DeletedMembership = DeletedWorkspace & { id: string; require_mfa: boolean };

/**
 * Like `requireMembership`, for a workspace that may be deleted. @returns its id, and whether it is deleted
 * @throws ServiceError as `requireMembership`, without workspace_deleted
 */
export async function requireMembershipOfDeleted(
  client: PoolClient,
  claims: UserClaims,
  slug: string,
  least: WorkspaceRole,
): Promise<{ id: string; isDeleted: boolean }> {
  const deleted = (await readDeleted(client)).find((one) => one.slug === slug);
  if (!deleted) return { id: (await requireMembership(client, claims, slug, least)).id, isDeleted: false };
  if (deleted.require_mfa && !provedSecondFactor(claims)) throw secondFactorRequired(deleted.name);
  requireRole(deleted.role, least);
  return { id: deleted.id, isDeleted: true };
}

/** The user's workspaces that were deleted and can still be restored. */
export function readDeleted(client: PoolClient): Promise<DeletedMembership[]> {
  return asServiceWithin(client, async () =>
    (await selectDeletedMemberships(client)).map(({ deleted_at, erased_at, ...row }) => ({
      ...row,
      deleted_at: toInstant(deleted_at.getTime()),
      erased_at: toInstant(erased_at.getTime()),
    })),
  );
}

/**
 * Reads the signed-in user's own profile.
 * @throws ServiceError account_deleted if the account was deleted, invalid_credentials if it was erased
 */
export async function requireProfile(
  client: ClientBase,
  claims: UserClaims,
): Promise<CurrentUser["profile"]> {
  const profile = await selectProfile(client, claims.sub);
  if (!profile) throw new ServiceError("invalid_credentials", "This account no longer exists.");
  const { deleted_at: deletedAt, ...kept } = profile;
  if (deletedAt === null) return kept;
  throw new ServiceError(
    "account_deleted",
    "This account was deleted. To keep it, sign out, sign in again and open Outlay within thirty days of the deletion.",
  );
}

async function explainHidden(client: PoolClient, claims: UserClaims, slug: string): Promise<ServiceError> {
  const [locked] = await readLocked(client, claims, slug);
  if (locked) return secondFactorRequired(locked.name);
  const deleted = (await readDeleted(client)).find((one) => one.slug === slug);
  if (!deleted) return notFound();
  const day = deleted.erased_at.slice(0, 10);
  return new ServiceError(
    "workspace_deleted",
    `The workspace ${deleted.name} was deleted and is erased on ${day}. Until then, an owner can undo the deletion.`,
    { erased_at: deleted.erased_at },
  );
}

function secondFactorRequired(name: string): ServiceError {
  return new ServiceError(
    "mfa_required",
    `The workspace ${name} requires two-factor authentication. Set it up in your account's settings, or sign in with your code.`,
  );
}

/** The user's workspaces that require a second factor which this session lacks. @param slug only this one */
export async function readLocked(
  client: PoolClient,
  claims: UserClaims,
  slug?: string,
): Promise<{ slug: string; name: string }[]> {
  if (provedSecondFactor(claims)) return [];
  return asServiceWithin(client, () => selectLockedWorkspaces(client, slug));
}
