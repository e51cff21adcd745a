import { asService, callAsService } from "@/lib/db/transaction";
import { env } from "@/lib/env";
import { presentProviders } from "@/lib/ledger/pricing/first-catalogue";
import { catalogueVersion } from "@/lib/ledger/pricing/price-table";
import { presentRates } from "@/lib/ledger/pricing/rates/present";
import { log, reportFailure } from "@/lib/log";
import { internet, isAllowedHost, isPublicAddress, type OutsideNetwork } from "@/lib/outside/connect";
import { getOutside } from "@/lib/outside/get";
import { readPublished } from "./follow";
import { type FeedKind, type PublishedDay, storePublished } from "./published-queries";
import { readPrices } from "./read-prices";
import { holdJumps, readRates } from "./read-rates";

/** The least time between two attempts, over all processes, whether the last one succeeded or not. An interval of Postgres. */
const pause = "4 hours";
/** Limits of one file: ninety days of rates are 0.1 MB, the catalogue 0.4 MB. */
const maxBytes = 4_000_000;
const timeoutMs = 20_000;

export type FetchOptions = {
  /** Where each feed is fetched from; by default the settings RATES_URL and PRICES_URL. */
  urls?: Readonly<Record<FeedKind, readonly string[]>>;
  network?: OutsideNetwork;
  /** Fetches even if the last attempt was just now. */
  isForced?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
};

let running: { done: Promise<void>; ends: AbortController } | undefined;

/** Starts to fetch the feeds that are due, in the background, so that a stopping process need not wait for a download (`drainFetching`). */
export async function startFetching(): Promise<number> {
  if (running) return 0;
  const ends = new AbortController();
  const done = fetchPublished({ signal: ends.signal })
    .then((stored) => {
      if (stored > 0) log.info({ days: stored }, "New rates or prices were stored.");
    })
    .catch((error) => reportFailure(error, "Rates and prices were not fetched; it will be tried again."))
    .finally(() => {
      running = undefined;
    });
  running = { done, ends };
  return 0;
}

/** Waits for the download that `startFetching` started. @param isLast aborts it */
export async function drainFetching(isLast: boolean): Promise<void> {
  if (isLast) running?.ends.abort();
  await running?.done;
}

/**
 * Fetches the feeds of rates and prices that are due, and stores new data for all processes. Never runs in two processes at once. Logs
 * when a feed begins to fail and when it works again.
 * @returns how many days are new or changed
 */
export async function fetchPublished(options: FetchOptions = {}): Promise<number> {
  const { RATES_URL, PRICES_URL } = env();
  const { rates, prices } = options.urls ?? { rates: RATES_URL, prices: PRICES_URL };
  return (await fetchFeed("rates", rates, options)) + (await fetchFeed("prices", prices, options));
}

async function fetchFeed(
  kind: FeedKind,
  urls: readonly string[],
  { isForced = false, ...options }: FetchOptions,
): Promise<number> {
  if (urls.length === 0) return 0;
  if (!(await callAsService<boolean>("private.claim_feed", kind, isForced ? "0" : pause))) return 0;
  // Jumps are measured against the newest data.
  await readPublished();
  let stored = 0;
  const failures: string[] = [];
  for (const url of urls) {
    if (options.signal?.aborted) return stored;
    try {
      const text = await download(url, options);
      stored += kind === "rates" ? await storeRates(text) : await storePrices(text);
    } catch (error) {
      failures.push(`${url}: ${error instanceof Error ? error.message : error}`);
    }
  }
  if (options.signal?.aborted) return stored;
  const failure = failures.length > 0 ? failures.join("; ").slice(0, 1_000) : null;
  const isNews = await callAsService<boolean>("private.note_feed", kind, failure);
  if (isNews && failure)
    log.warn({ feed: kind, failure }, "New data could not be fetched; what is known stays in use.");
  if (isNews && !failure) log.info({ feed: kind }, "New data is fetched again.");
  if (stored > 0) await readPublished();
  return stored;
}

/**
 * Downloads a file. Internal hosts and plain http are allowed only if the URL names an internal IP address or localhost, or if
 * ALERT_ALLOWED_HOSTS lists the host.
 */
async function download(
  address: string,
  { network = internet, timeoutMs: limitMs = timeoutMs, signal }: FetchOptions,
): Promise<string> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const allowed = [...env().ALERT_ALLOWED_HOSTS, ...(isNamedInternal(host) ? [host] : [])];
  if (url.protocol === "http:" && !isAllowedHost(host, allowed))
    throw new Error("Its address must begin with https://.");
  const limit = AbortSignal.timeout(limitMs);
  try {
    const body = await getOutside(url, {
      network,
      allowed,
      maxBytes,
      signal: AbortSignal.any([limit, ...(signal ? [signal] : [])]),
      accept: "*/*",
    });
    return body.toString("utf8");
  } catch (error) {
    throw limit.aborted ? new Error("It did not answer in time.") : error;
  }
}

function isNamedInternal(host: string): boolean {
  if (host === "localhost") return true;
  try {
    return !isPublicAddress(host);
  } catch {
    return false; // A name.
  }
}

async function storeRates(text: string): Promise<number> {
  const { source, days } = readRates(text, Date.now());
  return store("rates", source, holdJumps({ source, days }, presentRates()));
}

async function storePrices(text: string): Promise<number> {
  const now = Date.now();
  const { providers, held } = readPrices(text, await presentProviders(), now);
  const day = new Date(now).toISOString().slice(0, 10);
  return store("prices", catalogueVersion, [{ day, content: providers, held }]);
}

async function store(kind: FeedKind, source: string, days: PublishedDay[]): Promise<number> {
  const stored = await asService((client) => storePublished(client, kind, source, days));
  const items = [...new Set(days.flatMap(({ held }) => Object.keys(held)))];
  if (stored > 0 && items.length > 0)
    log.warn(
      { feed: kind, items: items.slice(0, 50) },
      "These differ by more than 20 % from what was known and are not used until you accept them: npm run feeds.",
    );
  return stored;
}
