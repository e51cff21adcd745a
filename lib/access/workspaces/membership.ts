import type { ClientBase, PoolClient } from "pg";
import type { CurrentUser, Membership, WorkspaceRole } from "@/lib/contract/me";
import { provedSecondFactor } from "@/lib/db/second-factor";
import { asServiceWithin, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { selectLockedWorkspaces, selectMemberships, selectProfile } from "./queries";

/** In ascending order of rights. */
const ranks: WorkspaceRole[] = ["viewer", "member", "admin", "owner"];

/**
 * Reads a workspace by its slug with the user's role in it. The transaction must run as the user.
 * @param least the least role that is allowed
 * @throws ServiceError not_found where it does not exist or the user is not a member; mfa_required where it requires a
 *   second factor that this session lacks; permission_denied to lesser roles
 */
export async function requireMembership(
  client: PoolClient,
  claims: UserClaims,
  slug: string,
  least: WorkspaceRole = "viewer",
): Promise<Membership> {
  const [membership] = await selectMemberships(client, claims.sub, slug);
  if (!membership) throw await explainHidden(client, claims, slug);
  const { role } = membership;
  if (ranks.indexOf(role) >= ranks.indexOf(least)) return membership;
  const wanted = ranks.slice(ranks.indexOf(least)).join(" or ");
  throw new ServiceError(
    "permission_denied",
    `This needs the role ${wanted} in the workspace; yours is ${role}.`,
    { role },
  );
}

/** Reads the signed-in user's own profile. @throws ServiceError invalid_credentials where the account was deleted */
export async function requireProfile(
  client: ClientBase,
  claims: UserClaims,
): Promise<CurrentUser["profile"]> {
  const profile = await selectProfile(client, claims.sub);
  if (!profile) throw new ServiceError("invalid_credentials", "This account does not exist any more.");
  return profile;
}

async function explainHidden(client: PoolClient, claims: UserClaims, slug: string): Promise<ServiceError> {
  const [locked] = await readLocked(client, claims, slug);
  if (!locked) return notFound();
  return new ServiceError(
    "mfa_required",
    `The workspace ${locked.name} requires two-factor authentication. Set it up in your account's settings, or sign in with your code.`,
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
