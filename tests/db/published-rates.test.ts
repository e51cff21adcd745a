import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { callAsService } from "@/lib/db/transaction";
import { fetchPublished } from "@/lib/ledger/published/feeds";
import { acceptHeld, readFeeds } from "@/lib/ledger/published/review";
import { shippedRate } from "@/tests/helpers/ledger/shipped-rates";
import { day, expense, rates, withPublished, xml } from "@/tests/helpers/published";

const { rowsOf, files, fetchRates, stored, failure, newWorkspace } = withPublished(2);

describe("Rates that are fetched", () => {
  test("Are used by every process within seconds for their days and the days after, and answers name them", async () => {
    const { clients } = await newWorkspace();
    const at = `${day(1)}T12:00:00Z`;
    for (const client of clients)
      expect((await client.post(expense({ occurred_at: at }))).body).toMatchObject({
        cost_status: "converted",
        rate: { rate_date: shippedRate("EUR", day(1)).date, is_old: true },
      });
    files().set("/rates", xml({ [day(2)]: rates, [day(4)]: { ...rates, USD: "1.2" } }));
    expect(await fetchRates()).toBe(2);
    for (const client of clients) {
      await expect
        .poll(async () => (await client.post(expense({ occurred_at: at }))).body, {
          timeout: 20_000,
          interval: 500,
        })
        .toMatchObject({
          amount_usd: 125,
          rate: { usd_per_unit: 1.25, rate_date: day(2), source: "European Central Bank", is_old: false },
        });
      expect((await client.post(expense({ occurred_at: `${day(3)}T12:00:00Z` }))).body).toMatchObject({
        amount_usd: 120,
        rate: { rate_date: day(4) },
      });
      const pounds = await client.post(expense({ occurred_at: at, currency: "GBP" }));
      expect(pounds.body).toMatchObject({ amount_usd: 156.25, rate: { usd_per_unit: 1.5625 } });
    }
    // The same file again changes nothing.
    expect(await fetchRates()).toBe(0);
  });

  test("Of JSON are those of the second source", async () => {
    const usd = { eur: 0.8, jpy: 150, gbp: 0.7, chf: 0.8, aed: 3.6725, btc: 1e-5, ggp: 0.7 };
    files().set("/json", JSON.stringify({ date: day(1), usd }));
    await fetchRates(["/json"]);
    const [row] = await stored("rates");
    expect(row).toMatchObject({ source: "@fawazahmed0/currency-api" });
    expect(row.content).toEqual({
      EUR: "1.25",
      JPY: "0.006666666666666667",
      GBP: "1.428571428571428571",
      CHF: "1.25",
      AED: "0.272294077603812117",
    });
  });

  test.each<[string, string]>([
    ["nothing", ""],
    ["a page of HTML", "<html><body>Sign in to the network</body></html>"],
    ["no JSON", "rates"],
    ["JSON of another form", "[1, 2]"],
    ["no day", xml({ "2026-13-45": rates })],
    ["a day ahead", xml({ [day(-3)]: rates })],
    ["a rate of zero", xml({ [day(1)]: { ...rates, JPY: "0" } })],
    ["a rate below zero", xml({ [day(1)]: { ...rates, JPY: "-1" } })],
    ["a rate that is no number", xml({ [day(1)]: { ...rates, JPY: "NaN" } })],
    [
      "an infinite rate",
      `{"date": "${day(1)}", "usd": {"eur": 1e999, "jpy": 1, "gbp": 1, "chf": 1, "sek": 1}}`,
    ],
    [
      "a base that is no currency",
      `{"date": "${day(1)}", "btc": {"usd": 9, "eur": 8, "jpy": 7, "gbp": 6, "chf": 5}}`,
    ],
    ["no rate of USD", xml({ [day(1)]: { ...rates, USD: "", JPY: "1" } })],
    ["few rates", xml({ [day(1)]: { USD: "1.2", JPY: "180" } })],
  ])("Are not stored from %s", async (_, body) => {
    files().set("/rates", body);
    expect(await fetchRates()).toBe(0);
    expect(await stored("rates")).toEqual([]);
    expect(await failure()).toContain(files().url("/rates"));
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["answers an error", (response) => response.writeHead(500).end(), "It answers 500."],
    [
      "redirects",
      (response) => response.writeHead(302, { Location: "http://169.254.169.254/latest/meta-data" }).end(),
      "It answers 302.",
    ],
    ["never answers", () => {}, "It did not answer in time."],
    ["never ends", (response) => response.write("<Cube"), "It did not answer in time."],
    ["breaks off", (response) => response.write("<Cube", () => response.destroy()), ""],
    [
      "is endless",
      (response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, " ")));
        };
        response.on("drain", more);
        more();
      },
      "It has more than 4000000 bytes.",
    ],
  ])("Stay as they are where the server %s", async (_, answer, why) => {
    files().set("/rates", answer);
    expect(await fetchRates(["/rates"], { timeoutMs: 1_500 })).toBe(0);
    expect(await failure()).toContain(why);
    expect(await stored("rates")).toEqual([]);
  });

  test("Are fetched from the second source where the first fails", async () => {
    files().set("/rates", "broken");
    files().set(
      "/json",
      JSON.stringify({ date: day(1), usd: { eur: 0.8, jpy: 150, gbp: 0.7, chf: 0.8, aed: 3.6725 } }),
    );
    expect(await fetchRates(["/rates", "/json"])).toBe(1);
    expect(await failure()).toContain("/rates");
  });

  test("Are fetched by one process at a time, and again hours later", async () => {
    files().set("/once", xml({ [day(1)]: rates }));
    const urls = { rates: [files().url("/once")], prices: [] };
    const results = await Promise.all(Array.from({ length: 5 }, () => fetchPublished({ urls })));
    expect(results.sort()).toEqual([0, 0, 0, 0, 1]);
    expect(files().asked.get("/once")).toBe(1);
    await rowsOf("update private.feeds set tried_at = tried_at - interval '4 hours'");
    await fetchPublished({ urls });
    expect(files().asked.get("/once")).toBe(2);
  });

  test("Are reported as failing once, and once when they work again", async () => {
    await callAsService("private.claim_feed", "rates", "0");
    const note = (why: string | null) => callAsService<boolean>("private.note_feed", "rates", why);
    expect([await note(null), await note("a"), await note("b"), await note(null), await note(null)]).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  test("Are not fetched from an internal address that a public name resolves to, nor over plain http", async () => {
    const connected: string[] = [];
    const network = {
      resolve: async () => ["10.1.2.3"],
      connect: async (address: string) => {
        connected.push(address);
        throw new Error("connected");
      },
    };
    const from = (url: string) =>
      fetchPublished({ urls: { rates: [url], prices: [] }, isForced: true, network });
    await from("https://rates.example.com/a.xml");
    expect(await failure()).toContain("10.1.2.3");
    await from("http://rates.example.com/a.xml");
    expect(await failure()).toContain("https://");
    expect(connected).toEqual([]);
  });

  test("That jump by more than 20 % are held, currency by currency, until they are accepted", async () => {
    const before = Number(shippedRate("ZAR", day(1)).rate);
    const near = { ...rates, USD: "1.1172", JPY: "175.68", GBP: "0.8338" };
    const jumped = { ...near, ZAR: String(1.1172 / (before * 0.75)) };
    files().set("/rates", xml({ [day(3)]: near, [day(2)]: jumped, [day(1)]: jumped }));
    expect(await fetchRates()).toBe(3);
    const rowsHeld = async () => (await stored("rates")).map(({ held }) => Object.keys(held));
    expect(await rowsHeld()).toEqual([[], ["ZAR"], ["ZAR"]]);
    expect((await readFeeds()).held).toMatchObject([{ kind: "rates", item: "ZAR", days: [day(2), day(1)] }]);
    expect(await acceptHeld("XYZ")).toBe(0);
    expect(await acceptHeld("ZAR")).toBe(2);
    expect(await rowsHeld()).toEqual([[], [], []]);
    // What was accepted is not held again.
    expect(await fetchRates()).toBe(0);
    expect(await rowsHeld()).toEqual([[], [], []]);
  });
});
