import { closeSessions } from "@/lib/access/sign-in/local/account-queries";
import { requireRecentSignIn } from "@/lib/access/sign-in/recent-sign-in";
import { requireProfile } from "@/lib/access/workspaces/membership";
import type { DeleteAccountRequest, DeletedAccount } from "@/lib/contract/access/account";
import { toInstant } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";
import { supabaseProject } from "@/lib/env";
import { ServiceError, validationFailed } from "@/lib/errors";
import { log } from "@/lib/log";

type Outcome =
  | { blocked: { slug: string; name: string }[] }
  | { blocked?: never; deleted_at: number; erased_at: number };

/**
 * Deletes the signed-in user's account, who signed in within the last hour and gives its address. Sessions and connections end, and
 * the workspaces that only they are in are deleted with it. Signing in within thirty days undoes it; `eraseAccounts` erases it then.
 * @throws ServiceError recent_sign_in_required, validation_failed for another address; conflict with `workspaces` where workspaces
 *   with other members would be without an owner
 */
export async function deleteAccount(
  claims: UserClaims,
  { email }: DeleteAccountRequest,
): Promise<DeletedAccount> {
  const outcome = await asUser(claims, async (client) => {
    const profile = await requireProfile(client, claims);
    if (email.trim().toLowerCase() !== profile.email.toLowerCase())
      throw validationFailed([
        { path: "email", message: `must be your account's e-mail address: ${profile.email}` },
      ]);
    requireRecentSignIn(claims);
    return asServiceWithin(client, () => callFunction<Outcome>(client, "private.delete_account"));
  });
  if (outcome.blocked) {
    const names = outcome.blocked.map(({ name }) => name).join(", ");
    throw new ServiceError(
      "conflict",
      `You are the only owner of workspaces with other members: ${names}. Transfer the ownership of each, or delete it, first.`,
      { workspaces: outcome.blocked },
    );
  }
  // A project's sessions are ended by the page that the user deletes the account on. They can do nothing in any case.
  if (!supabaseProject()) await closeSessions(claims.sub, claims.session_id, "global");
  return { deleted_at: toInstant(outcome.deleted_at), erased_at: toInstant(outcome.erased_at) };
}

/**
 * Erases accounts that were deleted more than thirty days ago, one by one. Safe to run in every process, and to be killed.
 * @returns how many
 */
export async function eraseAccounts(): Promise<number> {
  for (let count = 0; ; count += 1) {
    const erased = await asService(
      (client) =>
        callFunction<{ user_id: string; identity: boolean } | null>(client, "private.erase_account_step"),
      deadlines.job,
    );
    if (!erased) return count;
    if (!erased.identity)
      log.warn(
        { user_id: erased.user_id },
        "An account was erased, but not its identity: the database does not let us delete it. Delete the user in the Supabase dashboard.",
      );
  }
}
