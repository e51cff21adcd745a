import { databaseUrls } from "@/lib/db/pool";
import { asServiceAlone } from "@/lib/db/transaction";
import { replaceCatalogue } from "@/lib/ledger/pricing/catalogue-match";
import { shippedProviders } from "@/lib/ledger/pricing/first-catalogue";
import { catalogueVersion } from "@/lib/ledger/pricing/price-table";
import { setFetchedRates } from "@/lib/ledger/pricing/rates/present";
import type { DayRates } from "@/lib/ledger/pricing/rates/rate-table";
import { reportFailure } from "@/lib/log";
import { loadPublished, type Published } from "./published-queries";

/** How often a busy process asks the database for new data. */
const followEveryMs = 5_000;
/** A process that has not asked for this long waits for the answer. `priceUnpriced` waits longer than this. */
const waitAfterMs = 30_000;

/** The data that this process has loaded from a database. */
type Known = { database: string; revision: number; rates: Map<string, DayRates>; askedMs: number };

let known: Known | undefined;
let asking: Promise<void> | undefined;

/**
 * Keeps the rates and prices of this process up to date with the database. Call it before computing a cost or converting a sum. A busy
 * process loads new data in the background, within seconds; a process that has been idle waits for it.
 * @throws ServiceError unavailable if nothing could be loaded yet
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

/** Loads new data immediately, in the process that has stored it. */
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
    // The present data is usable; requests that need the database fail by themselves.
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
