import { provedSecondFactor } from "@/lib/db/second-factor";
import { callAsService, type UserClaims } from "@/lib/db/transaction";

export { provedSecondFactor };

/**
 * Whether a session has a second factor of its user's still to prove: it is nobody's yet. A session that proved one costs no
 * query.
 * @throws ServiceError unavailable
 */
export async function lacksSecondFactor(claims: UserClaims): Promise<boolean> {
  if (provedSecondFactor(claims)) return false;
  return callAsService("private.has_verified_factor", claims.sub);
}
