import { setImmediate as turn } from "node:timers/promises";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, callAsService } from "@/lib/db/transaction";
import { parseDecimal } from "@/lib/decimal";
import { priceUsage } from "@/lib/ledger/pricing/price-message";
import { catalogueVersion, type ServiceTier } from "@/lib/ledger/pricing/price-table";
import { followPublished } from "./follow";
import { selectUnpricedUsage, type UnpricedUsage } from "./published-queries";

/** Names that are looked up before yielding to the event loop. An unknown name can take two milliseconds. */
const namesATurn = 25;
const one = parseDecimal("1");

/**
 * Requests corrections of unpriced usage that has a price since new prices were stored. Priced messages do not change. Does nothing until
 * the prices have been stored for a while, so that every process uses them and no later message is recorded as unpriced.
 * @param knownFor how long the prices must have been stored, an interval of Postgres
 * @returns how many corrections it requested
 */
export async function priceUnpriced(knownFor = "1 minute"): Promise<number> {
  await followPublished();
  const revision = await callAsService<string | null>("private.pricing_due", catalogueVersion, knownFor);
  if (revision === null) return 0;
  const usage = await asService(selectUnpricedUsage, deadlines.job);
  const requests = new Map<string, { workspace_id: string; provider: string; from_at: Date }>();
  for (const [index, each] of usage.entries()) {
    if (index % namesATurn === 0) await turn();
    if (!isPriced(each)) continue;
    const { workspace_id, provider, first_at: from_at } = each;
    const key = `${workspace_id} ${provider}`;
    const known = requests.get(key);
    if (!known || from_at < known.from_at) requests.set(key, { workspace_id, provider, from_at });
  }
  await asService((client) =>
    callFunction(client, "private.request_pricing", revision, JSON.stringify([...requests.values()])),
  );
  return requests.size;
}

/** Whether the catalogues have a price for the usage, at its first or its last instant. */
function isPriced({ provider, model, unit_type: unitType, service_tier, first_at, last_at }: UnpricedUsage) {
  return [first_at, last_at].some(
    (occurredAt) =>
      priceUsage({
        provider,
        model,
        unitType,
        quantity: one,
        serviceTier: (service_tier ?? undefined) as ServiceTier | undefined,
        occurredAt,
      }).costStatus === "priced",
  );
}
