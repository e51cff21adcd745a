import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type FetchOptions, fetchPublished } from "@/lib/ledger/published/feeds";
import { readPublished } from "@/lib/ledger/published/follow";
import { apiClient } from "./client";
import { connectService } from "./connect-service";
import { type FileServer, startFileServer } from "./file-server";
import { withHarness } from "./harness";

/** The UTC day some days ago, such as "2026-11-22". */
export const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** A file as the European Central Bank publishes it: the units of each currency for one EUR, by day. */
export const xml = (days: Record<string, Record<string, string | number>>) =>
  `<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope><Cube>${Object.entries(days)
    .map(
      ([time, rates]) =>
        `<Cube time="${time}">${Object.entries(rates)
          .map(([currency, rate]) => `<Cube currency="${currency}" rate="${rate}"/>`)
          .join("")}</Cube>`,
    )
    .join("")}</Cube></gesmes:Envelope>`;

/** Units of currencies for one EUR. */
export const rates = {
  USD: "1.25",
  JPY: "180",
  GBP: "0.8",
  CHF: "0.9194",
  SEK: "10.978",
  ZAR: "18.6455",
};

/** An expense of 100 EUR. */
export const expense = (more: Record<string, unknown>) => ({
  project: "alpha",
  source: "api",
  message: { type: "expense", vendor: "V", amount: 100, currency: "EUR", ...more },
});

/**
 * Starts services, and a server of published files. Before each test, nothing is published: neither rates nor prices. The tests
 * fetch in their own process, which uses the same database.
 * @param services how many
 */
export function withPublished(services: number) {
  const harness = withHarness({ services });
  connectService(() => harness.database);
  const rowsOf = async (text: string, values: unknown[] = []) =>
    (await harness.fixtures.sql.query(text, values)).rows;

  let files: FileServer;
  beforeAll(async () => {
    files = await startFileServer();
  });
  afterAll(() => files.close());
  beforeEach(async () => {
    await rowsOf("delete from private.feeds");
    // Processes have the revisions of earlier tests, so what replaces them has a later one.
    await rowsOf("delete from private.published_data where kind = 'prices'");
    await rowsOf(
      "update private.published_data set content = '{}', held = '{}', revision = (select max(revision) + 1 from private.published_data)",
    );
    await readPublished();
  });

  return {
    harness,
    rowsOf,
    files: () => files,
    /** Fetches rates from paths of the server of files. @returns how many days have changed */
    fetchRates: (paths = ["/rates"], options: FetchOptions = {}) =>
      fetchPublished({
        urls: { rates: paths.map((path) => files.url(path)), prices: [] },
        isForced: true,
        ...options,
      }),
    fetchPrices: () =>
      fetchPublished({ urls: { rates: [], prices: [files.url("/prices")] }, isForced: true }),
    /** What is stored of a kind. */
    stored: (kind: "rates" | "prices") =>
      rowsOf(
        "select source, day, content, held from private.published_data where kind = $1 and (content <> '{}' or held <> '{}') order by day",
        [kind],
      ),
    /** Why the last fetch failed. */
    failure: async () => (await rowsOf("select failure from private.feeds"))[0]?.failure as string | null,
    /** A workspace with a client of each service. */
    newWorkspace: async () => {
      const slug = `w-${randomUUID()}`;
      const workspace = await harness.fixtures.workspace(slug);
      const { secret } = await harness.fixtures.key(workspace);
      const clients = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));
      const [client] = clients;
      if (!client) throw new Error("No service runs.");
      return { slug, workspace, client, clients };
    },
  };
}
