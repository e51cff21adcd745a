import type { z } from "zod";
import { restoreDeleted, storeDeleted } from "@/lib/access/restore-deleted";
import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { accountQuota, addressQuota, hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership, requireProfile } from "@/lib/access/workspaces/membership";
import type {
  CreateInvitationRequest,
  createdInvitation,
  Invitation,
  InvitationOffer,
  invitationList,
} from "@/lib/contract/access/invitations";
import type { Membership } from "@/lib/contract/access/me";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import {
  acceptOffer,
  deleteInvitation,
  type InvitationRow,
  insertInvitation,
  type OfferRow,
  selectInvitations,
  selectOffer,
  storeInvitationSecret,
} from "./invitation-queries";

/** Lists a workspace's open invitations, for its admins. @throws ServiceError not_found, permission_denied */
export function listInvitations(claims: UserClaims, slug: string): Promise<z.output<typeof invitationList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    return { invitations: (await selectInvitations(client, id)).map(toInvitation) };
  });
}

/**
 * Creates an invitation for anybody with its link, or for one address. For admins. Only this response has the link.
 * @throws ServiceError not_found, permission_denied, rate_limited
 */
export async function createInvitation(
  claims: UserClaims,
  slug: string,
  request: CreateInvitationRequest,
): Promise<z.output<typeof createdInvitation>> {
  await throttle("new invitations", [
    ...accountQuota(claims.sub, 100, hourMs),
    ...addressQuota(claims.caller_address, 400, hourMs),
  ]);
  const { role, email, expires_in_days: days } = request;
  const token = generateToken();
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const id = await insertInvitation(client, { workspaceId, role, email, days });
    await asServiceWithin(client, () => storeInvitationSecret(client, id, hashSecret(token)));
    const [row] = await selectInvitations(client, workspaceId, id);
    if (!row) throw new Error("The new invitation cannot be read.");
    return { invitation: toInvitation(row), link: `${serviceAddress()}/invite/${token}` };
  });
}

/**
 * Revokes an open invitation; its link stops working.
 * @returns the invitation as it was
 * @throws ServiceError not_found, permission_denied
 */
export function revokeInvitation(claims: UserClaims, slug: string, id: string): Promise<Invitation> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const [row] = await selectInvitations(client, workspaceId, id);
    if (!row) throw notFound();
    await storeDeleted(client, "invitation", workspaceId, id);
    if (!(await deleteInvitation(client, workspaceId, id))) throw notFound();
    return toInvitation(row);
  });
}

/**
 * Restores an invitation that was revoked in the last ten minutes, for admins; its link works again, until it expires.
 * @throws ServiceError not_found, permission_denied
 */
export function restoreInvitation(claims: UserClaims, slug: string, id: string): Promise<Invitation> {
  return restoreDeleted(
    claims,
    slug,
    id,
    { kind: "invitation", role: "admin" },
    async (client, workspaceId) => {
      const [row] = await selectInvitations(client, workspaceId, id);
      if (!row) throw new Error("The restored invitation cannot be read.");
      return toInvitation(row);
    },
  );
}

/** Reads what a link offers. @throws ServiceError not_found for an unknown, used, revoked or expired link alike */
export function readInvitationOffer(claims: UserClaims, token: string): Promise<InvitationOffer> {
  return asUser(claims, async (client) => {
    await requireProfile(client, claims);
    const offer = await asServiceWithin(client, () => selectOffer(client, hashSecret(token)));
    if (!offer) throw notFound();
    return toOffer(offer);
  });
}

/**
 * Makes the signed-in user a member by an invitation link, which can be used once. An existing member keeps their
 * role, and the link stays valid.
 * @throws ServiceError not_found as for `readInvitationOffer`, permission_denied if it is for another address
 */
export function acceptInvitation(claims: UserClaims, token: string): Promise<Membership> {
  return asUser(claims, async (client) => {
    const { email } = await requireProfile(client, claims);
    const offer = await asServiceWithin(client, () => acceptOffer(client, hashSecret(token)));
    if (!offer) throw notFound();
    if (!offer.is_member && !offer.is_for_caller) {
      throw new ServiceError(
        "permission_denied",
        `This invitation is for ${offer.email}, and you are signed in as ${email}. Sign in with that address, or ask for an invitation to yours.`,
      );
    }
    return requireMembership(client, claims, offer.slug);
  });
}

function toInvitation({
  inviter_id,
  inviter_name,
  inviter_email,
  created_at,
  expires_at,
  ...invitation
}: InvitationRow): Invitation {
  return {
    ...invitation,
    invited_by: { user_id: inviter_id, display_name: inviter_name, email: inviter_email },
    created_at: toInstant(created_at.getTime()),
    expires_at: toInstant(expires_at.getTime()),
  };
}

function toOffer({
  name,
  role,
  invited_by,
  email,
  expires_at,
  is_for_caller,
  is_member,
}: OfferRow): InvitationOffer {
  return {
    workspace: { name },
    role,
    invited_by,
    email,
    expires_at: toInstant(expires_at),
    is_for_you: is_for_caller,
    already_member: is_member,
  };
}
