import type { CurrentUser, Membership } from "@/lib/contract/me";
import { asUser, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { requireMembership } from "./membership";
import { selectMemberships, selectProfile } from "./queries";

/**
 * Who is signed in, and where they belong (specification 2.7).
 * @throws ServiceError invalid_credentials where the token outlived its account
 */
export async function readCurrentUser(claims: UserClaims): Promise<CurrentUser> {
  return asUser(claims, async (client) => {
    const profile = await selectProfile(client, claims.sub);
    if (!profile) throw new ServiceError("invalid_credentials", "This account does not exist any more.");
    // The address is the profile's, which follows the account's at once; the token's is of the last refresh.
    const user = { id: profile.id, email: profile.email };
    return { user, profile, workspaces: await selectMemberships(client, claims.sub) };
  });
}

/**
 * A workspace by its slug, with the user's role in it.
 * @throws ServiceError not_found for one that does not exist, and for one the user does not belong to
 */
export async function readMembership(claims: UserClaims, slug: string): Promise<Membership> {
  return asUser(claims, (client) => requireMembership(client, claims, slug));
}
