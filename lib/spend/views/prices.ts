import { requireMembership } from "@/lib/access/workspaces/membership";
import { dayOf } from "@/lib/contract/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadPrices, loadUnpriced } from "@/lib/ledger/custom-prices/service";

/**
 * What the page of prices shows, all of one moment.
 * @returns with `today`, the day of that moment in UTC by the database's clock
 * @throws ServiceError not_found to strangers
 */
export function readPricesView(claims: UserClaims, slug: string) {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    const { prices, repricings } = await loadPrices(client, id);
    const { unpriced } = await loadUnpriced(client, id);
    return { today: dayOf(now), prices, repricings, unpriced };
  });
}
