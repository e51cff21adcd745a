import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { selectSolelyOwned } from "./account-queries";

/**
 * The workspaces with other members that only this user owns: they are in the way of deleting the account. The deletion itself
 * decides again.
 */
export function listSolelyOwned(claims: UserClaims): Promise<{ slug: string; name: string }[]> {
  return asUserReading(claims, (client) => selectSolelyOwned(client, claims.sub));
}
