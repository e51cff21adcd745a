import { callFunction } from "@/lib/db/query";
import { asServiceWithin, asUser, type UserClaims } from "@/lib/db/transaction";

/**
 * Undoes the deletion of the user's account, if their session began after it.
 * @returns whether it did
 */
export function restoreAccount(claims: UserClaims): Promise<boolean> {
  return asUser(claims, (client) =>
    asServiceWithin(client, () => callFunction<boolean>(client, "private.restore_account")),
  );
}
