import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import type { PriceOverride } from "./price-message";

type Remembered = { version: number; prices: readonly PriceOverride[] };

/** The result of `private.load_prices`. */
type StoredPrices = {
  version: number;
  prices: (Omit<PriceOverride, "startsAt"> & { startsAt: string })[];
};

/** A cache of workspaces' prices; the least recently loaded are evicted first. */
const remembered = new Map<string, Remembered>();
const maxRemembered = 1_000;

const none: readonly PriceOverride[] = [];

/**
 * A workspace's own prices as of `version`, which `private.load_admission` returns with the key, so that a new price
 * applies to the next message. Returns the same array while the version is the same.
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
  return loadPrices(client, workspaceId, version);
}

/** A workspace's own prices as the transaction sees them. */
export function presentPrices(client: ClientBase, workspaceId: string): Promise<readonly PriceOverride[]> {
  return loadPrices(client, workspaceId, 0);
}

/** Loads a workspace's prices into the cache. @param version where the workspace has no price */
async function loadPrices(
  client: ClientBase,
  workspaceId: string,
  version: number,
): Promise<readonly PriceOverride[]> {
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
