import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import type { PriceOverride } from "./price-message";

type Remembered = { version: number; prices: readonly PriceOverride[] };

/** What `private.load_prices` answers. */
type StoredPrices = {
  version: number;
  prices: (Omit<PriceOverride, "startsAt"> & { startsAt: string })[];
};

/** Workspaces whose prices this process remembers; the ones used longest ago go first. */
const remembered = new Map<string, Remembered>();
const maxRemembered = 1_000;

const none: readonly PriceOverride[] = [];

/**
 * A workspace's own prices as of `version`, the count that `private.load_admission` answers with the key: a price that
 * was set is in force for the very next message. The same array as long as the version is the same.
 */
export async function workspacePrices(
  client: ClientBase,
  workspaceId: string,
  version: number,
): Promise<readonly PriceOverride[]> {
  // Version 0: no price was ever set.
  if (version === 0) return none;
  const known = remembered.get(workspaceId);
  if (known && known.version >= version) return known.prices;
  const loaded = await callFunction<StoredPrices | null>(client, "private.load_prices", workspaceId);
  const prices = loaded?.prices.map((price) => ({ ...price, startsAt: new Date(price.startsAt) })) ?? none;
  remembered.delete(workspaceId);
  remembered.set(workspaceId, { version: loaded?.version ?? version, prices });
  for (const oldest of remembered.keys()) {
    if (remembered.size <= maxRemembered) break;
    remembered.delete(oldest);
  }
  return prices;
}
