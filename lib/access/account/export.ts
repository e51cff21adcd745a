import type { AccountExport } from "@/lib/contract/access/account";
import { callFunction } from "@/lib/db/query";
import { asServiceWithin, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";

/** The most entries of the audit log in an export: the newest. */
const maxEntries = 10_000;

/**
 * What the service keeps of the signed-in user: profile, sign-in, sessions, memberships, connections, and what they did.
 * @throws ServiceError invalid_credentials where the account was deleted
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
