import type { UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { proofs, recentSeconds } from "./began-by-mail";

/**
 * Whether a session's user proved within the last hour who they are: when it began, or with a code since.
 * `private.signed_in_recently` checks the same in the database.
 */
export function signedInRecently({ amr }: UserClaims): boolean {
  const since = Date.now() / 1000 - recentSeconds;
  return proofs.parse(amr).some(({ timestamp }) => timestamp > since);
}

/** For what cannot be taken back by everybody: a found browser must not be enough. @throws ServiceError recent_sign_in_required */
export function requireRecentSignIn(claims: UserClaims): void {
  if (signedInRecently(claims)) return;
  throw new ServiceError(
    "recent_sign_in_required",
    "Sign in again, or enter the code of your authenticator app, and call again with the new session: this one began more than an hour ago.",
  );
}
