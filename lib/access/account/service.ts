import { closeSessions } from "@/lib/access/sign-in/local/account-queries";
import { requireRecentSignIn } from "@/lib/access/sign-in/recent-sign-in";
import { requireProfile } from "@/lib/access/workspaces/membership";
import type { AccountExport, DeleteAccountRequest, DeletedAccount } from "@/lib/contract/access/account";
import { toInstant } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { supabaseProject } from "@/lib/env";
import { ServiceError, validationFailed } from "@/lib/errors";
import { log } from "@/lib/log";
import { selectSolelyOwned } from "./account-queries";

type Outcome =
  | { blocked: { slug: string; name: string }[] }
  | { blocked?: never; deleted_at: number; erased_at: number };

/**
 * Deletes the account of the signed-in user, who must have signed in within the last hour and confirm the account's address. Sessions
 * and connections end, and workspaces without other members are deleted, too. Signing in within thirty days undoes the deletion;
 * afterwards `eraseAccounts` erases the account.
 * @throws ServiceError recent_sign_in_required, validation_failed for another address; conflict with `workspaces` if workspaces
 *   with other members would have no owner
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
  // With a Supabase project, the page where the user deletes the account ends the sessions. They have no rights from now on.
  if (!supabaseProject()) await closeSessions(claims.sub, claims.session_id, "global");
  return { deleted_at: toInstant(outcome.deleted_at), erased_at: toInstant(outcome.erased_at) };
}

/**
 * Erases accounts that were deleted more than thirty days ago, one by one. Can run in several processes and be killed at any time.
 * @returns the number of erased accounts
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

/**
 * The workspaces with other members that only this user owns, which prevent deleting the account. The deletion checks them
 * again.
 */
export function listSolelyOwned(claims: UserClaims): Promise<{ slug: string; name: string }[]> {
  return asUserReading(claims, (client) => selectSolelyOwned(client, claims.sub));
}

/**
 * Undoes the deletion of the user's account, if their session began after it.
 * @returns whether it did
 */
export function restoreAccount(claims: UserClaims): Promise<boolean> {
  return asUser(claims, (client) =>
    asServiceWithin(client, () => callFunction<boolean>(client, "private.restore_account")),
  );
}

/** The most entries of the audit log in an export: the newest. */
const maxEntries = 10_000;

/**
 * Exports what the service stores about the signed-in user: profile, sign-in, sessions, memberships, connections, and their entries in
 * the audit log.
 * @throws ServiceError invalid_credentials if the account was deleted
 */
export function exportAccount(claims: UserClaims): Promise<AccountExport> {
  return asUserReading(claims, async (client) => {
    const kept = await asServiceWithin(client, () =>
      callFunction<AccountExport | null>(client, "private.export_account", maxEntries),
    );
    if (!kept) throw new ServiceError("invalid_credentials", "This account no longer exists.");
    return kept;
  });
}
