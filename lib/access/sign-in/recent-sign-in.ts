import type { UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { proofs, recentSeconds } from "./began-by-mail";

/**
 * Whether a session's user proved their identity within the last hour, by signing in or with a code since.
 * `private.signed_in_recently` checks the same in the database.
 */
export function signedInRecently({ amr }: UserClaims): boolean {
  const since = Date.now() / 1000 - recentSeconds;
  return proofs.parse(amr).some(({ timestamp }) => timestamp > since);
}

/** Guards grave actions, so that access to an open browser is not enough for them. @throws ServiceError recent_sign_in_required */
export function requireRecentSignIn(claims: UserClaims): void {
  if (signedInRecently(claims)) return;
  throw new ServiceError(
    "recent_sign_in_required",
    "Sign in again, or enter the code of your authenticator app, and call again with the new session: this one began more than an hour ago.",
  );
}
