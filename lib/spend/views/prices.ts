import { requireMembership } from "@/lib/access/workspaces/membership";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadPrices, loadUnpriced } from "@/lib/ledger/custom-prices/service";

/**
 * Reads the content of the page of prices in one snapshot.
 * @returns the content; `today`: the snapshot's UTC day by the database's clock
 * @throws ServiceError not_found
 */
export function readPricesView(claims: UserClaims, slug: string) {
  return asUserReading(claims, async (client, now) => {
    const workspace = await requireMembership(client, claims, slug);
    const list = await loadPrices(client, workspace.id, now);
    const { unpriced } = await loadUnpriced(client, workspace);
    return { today: dayOf(now), ...list, unpriced };
  });
}
