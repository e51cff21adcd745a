import { databaseUrls } from "@/lib/db/pool";
import { asServiceAlone } from "@/lib/db/transaction";
import { replaceCatalogue } from "@/lib/ledger/pricing/catalogue-match";
import { shippedProviders } from "@/lib/ledger/pricing/first-catalogue";
import { catalogueVersion } from "@/lib/ledger/pricing/price-table";
import { setFetchedRates } from "@/lib/ledger/pricing/rates/present";
import type { DayRates } from "@/lib/ledger/pricing/rates/rate-book";
import { reportFailure } from "@/lib/log";
import { loadPublished, type Published } from "./published-queries";

/** How often a busy process asks the database whether there is something new. */
const followEveryMs = 5_000;
/** A process that has not asked for this long waits for the answer. `priceUnpriced` waits longer than that. */
const waitAfterMs = 30_000;

/** What this process has of a database. */
type Known = { database: string; revision: number; rates: Map<string, DayRates>; askedMs: number };

let known: Known | undefined;
let asking: Promise<void> | undefined;

/**
 * Sees to it that this process converts and prices at what the database has: whoever computes a cost or converts a sum calls
 * it before. A busy process knows of what is new within seconds and does not wait for it.
 * @throws ServiceError unavailable where nothing could be read yet
 */
export function followPublished(): Promise<void> {
  const { url: database } = databaseUrls();
  if (known?.database !== database) known = undefined;
  const sinceMs = known ? performance.now() - known.askedMs : Number.POSITIVE_INFINITY;
  if (sinceMs < followEveryMs) return Promise.resolve();
  asking ??= ask(database).finally(() => {
    asking = undefined;
  });
  return sinceMs < waitAfterMs ? Promise.resolve() : asking;
}

/** Reads at once what is new, for the process that has stored it. */
export async function readPublished(): Promise<void> {
  await asking;
  await ask(databaseUrls().url);
}

async function ask(database: string): Promise<void> {
  const present = known ?? { database, revision: 0, rates: new Map(), askedMs: 0 };
  const askedMs = performance.now();
  if (!known) {
    setFetchedRates([]);
    replaceCatalogue(await shippedProviders(), catalogueVersion);
  }
  try {
    const published = await asServiceAlone((client) =>
      loadPublished(client, present.revision, catalogueVersion),
    );
    if (published) take(published, present.rates);
    known = { ...present, revision: published?.revision ?? present.revision, askedMs };
  } catch (error) {
    // What is known is at most a few days behind; a cost that needs the database fails by itself.
    if (!known) throw error;
    known = { ...present, askedMs };
  }
}

function take({ rates, prices }: Published, all: Map<string, DayRates>): void {
  for (const { source, day, rates: published } of rates)
    all.set(`${source} ${day}`, { source, day, rates: published });
  setFetchedRates([...all.values()]);
  if (!prices) return;
  try {
    replaceCatalogue(prices.providers, `genai-prices of ${prices.day}`);
  } catch (error) {
    reportFailure(error, "Stored prices cannot be used.");
  }
}
