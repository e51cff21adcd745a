import { provedSecondFactor } from "@/lib/db/second-factor";
import { asServiceAlone, type UserClaims } from "@/lib/db/transaction";

export { provedSecondFactor };

/**
 * Whether a session has a second factor of its user's still to prove: it is nobody's yet. A session that proved one costs no
 * query.
 * @throws ServiceError unavailable
 */
export async function lacksSecondFactor(claims: UserClaims): Promise<boolean> {
  if (provedSecondFactor(claims)) return false;
  const { rows } = await asServiceAlone((client) =>
    client.query<{ has: boolean }>("select private.has_verified_factor($1) as has", [claims.sub]),
  );
  return rows[0]?.has ?? true;
}
