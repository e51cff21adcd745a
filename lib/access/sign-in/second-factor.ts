import { provedSecondFactor } from "@/lib/db/second-factor";
import { callAsService, type UserClaims } from "@/lib/db/transaction";

export { provedSecondFactor };

/**
 * Whether a session has yet to prove its user's second factor, and so has no rights. Queries the database only for
 * sessions that have proved none.
 * @throws ServiceError unavailable
 */
export async function lacksSecondFactor(claims: UserClaims): Promise<boolean> {
  if (provedSecondFactor(claims)) return false;
  return callAsService("private.has_verified_factor", claims.sub);
}
