import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { callAsService } from "@/lib/db/transaction";
import { shippedProviders } from "@/lib/ledger/pricing/first-catalogue";
import { type FetchOptions, fetchPublished } from "@/lib/ledger/published/feeds";
import { readPublished } from "@/lib/ledger/published/follow";
import { priceUnpriced } from "@/lib/ledger/published/price-unpriced";
import { acceptHeld, readFeeds } from "@/lib/ledger/published/review";
import { correctRates } from "@/lib/ledger/rate-corrections/service";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { type FileServer, startFileServer } from "@/tests/helpers/file-server";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { shippedRate } from "@/tests/helpers/ledger/shipped-rates";

const harness = withHarness({ services: 2 });
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

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** A file as the European Central Bank publishes it: the units of each currency for one EUR, by day. */
const xml = (days: Record<string, Record<string, string | number>>) =>
  `<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope><Cube>${Object.entries(days)
    .map(
      ([time, rates]) =>
        `<Cube time="${time}">${Object.entries(rates)
          .map(([currency, rate]) => `<Cube currency="${currency}" rate="${rate}"/>`)
          .join("")}</Cube>`,
    )
    .join("")}</Cube></gesmes:Envelope>`;
const rates = { USD: "1.25", JPY: "180", GBP: "0.8", CHF: "0.9194", SEK: "10.978", ZAR: "18.6455" };

const fetchRates = (paths = ["/rates"], options: FetchOptions = {}) =>
  fetchPublished({ urls: { rates: paths.map(files.url), prices: [] }, isForced: true, ...options });
const fetchPrices = () =>
  fetchPublished({ urls: { rates: [], prices: [files.url("/prices")] }, isForced: true });
const stored = (kind: string) =>
  rowsOf(
    "select source, day, content, held from private.published_data where kind = $1 and (content <> '{}' or held <> '{}') order by day",
    [kind],
  );
const failure = async () => (await rowsOf("select failure from private.feeds"))[0]?.failure as string | null;

async function newWorkspace() {
  const slug = `w-${randomUUID()}`;
  const workspace = await harness.fixtures.workspace(slug);
  const { secret } = await harness.fixtures.key(workspace, {
    permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
  });
  const clients = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret));
  const [client] = clients;
  if (!client) throw new Error("No service runs.");
  return { slug, workspace, client, clients };
}

const expense = (more: Record<string, unknown>) => ({
  project: "alpha",
  source: "api",
  message: { type: "expense", vendor: "V", amount: 100, currency: "EUR", ...more },
});

describe("Rates that are fetched", () => {
  test("Are used by every process within seconds for their days and the days after, and answers name them", async () => {
    const { clients } = await newWorkspace();
    const at = `${day(1)}T12:00:00Z`;
    for (const client of clients)
      expect((await client.post(expense({ occurred_at: at }))).body).toMatchObject({
        cost_status: "converted",
        rate: { rate_date: shippedRate("EUR", day(1)).date, is_old: true },
      });
    files.set("/rates", xml({ [day(2)]: rates, [day(4)]: { ...rates, USD: "1.2" } }));
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
    files.set("/json", JSON.stringify({ date: day(1), usd }));
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
    files.set("/rates", body);
    expect(await fetchRates()).toBe(0);
    expect(await stored("rates")).toEqual([]);
    expect(await failure()).toContain(files.url("/rates"));
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
    files.set("/rates", answer);
    expect(await fetchRates(["/rates"], { timeoutMs: 1_500 })).toBe(0);
    expect(await failure()).toContain(why);
    expect(await stored("rates")).toEqual([]);
  });

  test("Are fetched from the second source where the first fails", async () => {
    files.set("/rates", "broken");
    files.set(
      "/json",
      JSON.stringify({ date: day(1), usd: { eur: 0.8, jpy: 150, gbp: 0.7, chf: 0.8, aed: 3.6725 } }),
    );
    expect(await fetchRates(["/rates", "/json"])).toBe(1);
    expect(await failure()).toContain("/rates");
  });

  test("Are fetched by one process at a time, and again hours later", async () => {
    files.set("/once", xml({ [day(1)]: rates }));
    const urls = { rates: [files.url("/once")], prices: [] };
    const results = await Promise.all(Array.from({ length: 5 }, () => fetchPublished({ urls })));
    expect(results.sort()).toEqual([0, 0, 0, 0, 1]);
    expect(files.asked.get("/once")).toBe(1);
    await rowsOf("update private.feeds set tried_at = tried_at - interval '4 hours'");
    await fetchPublished({ urls });
    expect(files.asked.get("/once")).toBe(2);
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
    files.set("/rates", xml({ [day(3)]: near, [day(2)]: jumped, [day(1)]: jumped }));
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

describe("What was converted at another day's rate", () => {
  test("Is listed, then corrected with all sums, budgets and the spend of keys, and audited; what was voided stays", async () => {
    const { slug, workspace, client } = await newWorkspace();
    const correct = (dryRun: boolean) => correctRates({ dryRun, workspace: slug });
    await rowsOf(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'Team', 'global', 100000)",
      [workspace],
    );
    const at = `${day(1)}T12:00:00Z`;
    // The process has forgotten the rates of earlier tests.
    const told = async () => (await client.post(expense({ occurred_at: at }), {}, "?dry_run=true")).body.rate;
    await expect
      .poll(told, { timeout: 20_000, interval: 500 })
      .toMatchObject({ rate_date: shippedRate("EUR", day(1)).date });
    const ids: string[] = [];
    for (const more of [{}, { amount: 7.5, currency: "GBP" }, { amount: 3 }])
      ids.push(String((await client.post(expense({ occurred_at: at, ...more }))).body.id));
    const voided = (await client.post(expense({ occurred_at: at, amount: 50 }))).body;
    const owner = await signUpUser(harness.services[0]?.baseUrl ?? "");
    await rowsOf(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [workspace, owner.id],
    );
    const path = `/api/v1/workspaces/${slug}/messages/${voided.id}/void`;
    expect((await owner.call("POST", path, { reason: "Twice." })).status).toBeLessThan(300);
    const yearly = { type: "subscription", vendor: "S", amount: 1000, currency: "EUR", interval: "year" };
    const subscription = { project: "alpha", source: "api", message: { ...yearly, starts_on: day(1) } };
    ids.push(String((await client.post(subscription)).body.id));
    const right = (await client.post(expense({ occurred_at: "2026-09-15T00:00:00Z" }))).body;
    const usd = (await client.post(expense({ currency: "USD", occurred_at: at }))).body;
    // One corrects a cost that was first recorded in an earlier month, whose key spend it belongs to.
    await rowsOf(
      "update public.messages set counted_at = created_at - interval '40 days' where workspace_id = $1 and id = $2",
      [workspace, ids[2]],
    );
    await rowsOf(
      `with moved as (
         update public.key_spend as s set amount_usd = s.amount_usd - m.amount_usd, message_count = s.message_count - 1
         from public.messages as m
         where m.workspace_id = $1 and m.id = $2 and s.workspace_id = $1 and s.api_key_id = m.api_key_id
         returning s.api_key_id, m.amount_usd, m.counted_at
       )
       insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
       select $1, api_key_id, date_trunc('month', counted_at at time zone 'UTC')::date, amount_usd, 1 from moved`,
      [workspace, ids[2]],
    );
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    const total = async () =>
      Number(
        (await rowsOf("select sum(amount_usd) from public.messages where workspace_id = $1", [workspace]))[0]
          .sum,
      );
    const recorded = await total();
    const [{ sum: recordedThen }] = await rowsOf(
      "select trim_scale(sum(amount_usd)) as sum from public.messages where workspace_id = $1 and to_char(occurred_at at time zone 'UTC', 'YYYY-MM') = $2",
      [workspace, day(1).slice(0, 7)],
    );
    expect(await correct(false)).toEqual([]);

    files.set("/rates", xml({ [day(1)]: { ...rates, USD: "1.2", GBP: "0.8" } }));
    await fetchRates();
    const listed = await correct(true);
    expect(listed).toMatchObject([{ messages: 4, keys: ["Test key"] }]);
    // The yearly charge reaches into eleven later months.
    const [first, ...later] = listed[0]?.budgets ?? [];
    expect([first?.before_usd, first?.after_usd]).toEqual([recordedThen, "334.85"]);
    expect(later.map(({ after_usd: after }) => after)).toEqual(Array.from({ length: 11 }, () => "100"));
    expect(Object.keys(listed[0]?.months ?? {}).length).toBeGreaterThanOrEqual(12);
    expect(await total()).toBe(recorded);
    expect(
      await rowsOf("select from public.audit_log where workspace_id = $1 and action = 'messages.converted'", [
        workspace,
      ]),
    ).toEqual([]);

    const corrected = await correct(false);
    expect(corrected).toEqual(listed);
    const amounts = await rowsOf(
      "select id, sum(amount_usd)::float8 as amount, min(price ->> 'date') as date from public.messages where workspace_id = $1 group by id",
      [workspace],
    );
    const amountOf = (id: string) => amounts.find((each) => each.id === id);
    expect(ids.map((id) => amountOf(id).amount)).toEqual([120, 11.25, 3.6, 1200]);
    expect(new Set(ids.map((id) => amountOf(id).date))).toEqual(new Set([day(1)]));
    expect(amountOf(String(right.id)).amount).toBe(right.amount_usd);
    expect(amountOf(String(usd.id)).amount).toBe(100);
    expect(amountOf(String(voided.id)).amount).toBe(voided.amount_usd);
    expect((await total()) - recorded).toBeCloseTo(Number(corrected[0]?.change_usd), 9);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    expect((await reconcile({ repair: false })).found).toEqual([]);
    const audited = await rowsOf(
      "select after from public.audit_log where workspace_id = $1 and action = 'messages.converted'",
      [workspace],
    );
    expect(audited.map(({ after }) => after.messages)).toEqual([4]);
    expect(await correct(true)).toEqual([]);
  });
});

describe("Prices that are fetched", () => {
  const priced = (model: string, more: Record<string, unknown> = {}) =>
    costMessage({
      provider: "openai",
      model,
      unit_type: "input_tokens",
      quantity: 1_000_000,
      estimated_cost: undefined,
      ...more,
    });
  /** The catalogue with these models of OpenAI in place of, or besides, those of their names; undefined leaves one out. */
  async function catalogue(models: Record<string, object | undefined>): Promise<string> {
    const providers = await shippedProviders();
    return JSON.stringify(
      providers.map((provider) =>
        provider.id !== "openai"
          ? provider
          : {
              ...provider,
              models: [
                ...Object.entries(models).flatMap(([id, more]) =>
                  more
                    ? [{ id, match: { equals: id }, prices: { input_mtok: 2, output_mtok: 8 }, ...more }]
                    : [],
                ),
                ...provider.models.filter(({ id }) => !(id in models)),
              ],
            },
      ),
    );
  }

  test("Price new models on every process, and what came unpriced before; what was priced and own prices stay", async () => {
    const { workspace, client, clients } = await newWorkspace();
    const other = await newWorkspace();
    await rowsOf(
      "insert into public.prices (workspace_id, provider, model, unit_type, rate, starts_at) values ($1, 'openai', 'gpt-77-turbo', 'output_tokens', 0.5, '2026-01-01')",
      [workspace],
    );
    for (const each of clients)
      expect((await each.post(priced("gpt-77-turbo"))).body.cost_status).toBe("unpriced");
    expect((await other.client.post(priced("gpt-77-turbo"))).body.cost_status).toBe("unpriced");
    expect((await client.post(priced("no-such-model"))).body.cost_status).toBe("unpriced");
    const own = priced("gpt-77-turbo", { unit_type: "output_tokens", quantity: 3 });
    expect((await client.post(own)).body.amount_usd).toBe(1.5);
    const old = (await client.post(priced("gpt-4o"))).body.amount_usd;

    files.set(
      "/prices",
      await catalogue({ "gpt-77-turbo": {}, "gpt-4o": { prices: { input_mtok: 2.6, output_mtok: 10 } } }),
    );
    expect(await fetchPrices()).toBe(1);
    for (const each of clients)
      await expect
        .poll(async () => (await each.post(priced("gpt-77-turbo", { feature: "late" }))).body, {
          timeout: 20_000,
          interval: 500,
        })
        .toMatchObject({ amount_usd: 2, cost_status: "priced" });
    expect((await client.post(own)).body.amount_usd).toBe(1.5);
    expect((await client.post(priced("gpt-4o", { feature: "late" }))).body.amount_usd).toBe(2.6);
    const [{ version }] = await rowsOf(
      "select price ->> 'version' as version from public.messages where workspace_id = $1 and model = 'gpt-4o' and feature = 'late'",
      [workspace],
    );
    expect(version).toBe(`genai-prices of ${day(0)}`);

    // Not before every process has them.
    expect(await priceUnpriced()).toBe(0);
    expect(await priceUnpriced("0 seconds")).toBe(2);
    expect(await priceUnpriced("0 seconds")).toBe(0);
    const unpriced = () =>
      rowsOf(
        "select workspace_id, model from public.messages where workspace_id = any($1) and cost_status = 'unpriced' group by 1, 2",
        [[workspace, other.workspace]],
      );
    await expect
      .poll(unpriced, { timeout: 20_000 })
      .toEqual([{ workspace_id: workspace, model: "no-such-model" }]);
    const [kept] = await rowsOf(
      "select amount_usd::float8 as amount from public.messages where workspace_id = $1 and model = 'gpt-4o' and feature is distinct from 'late'",
      [workspace],
    );
    expect(kept.amount).toBe(old);
    for (const each of [workspace, other.workspace])
      expect(await ledgerDifferences(harness.fixtures, each)).toEqual([]);
  });

  test("That jump, or have a new regular expression, are held until they are accepted; a model that has gone stays", async () => {
    files.set(
      "/prices",
      await catalogue({
        "gpt-4.1": { prices: { input_mtok: 25, output_mtok: 8 } },
        "gpt-4.1-mini": undefined,
        "gpt-78": { match: { regex: "^(a+)+$" } },
        "gpt-79": { prices: { input_mtok: 1, output_mtok: 2, from_another_version_mtok: 3 } },
      }),
    );
    expect(await fetchPrices()).toBe(1);
    const openai = async () => {
      const [{ content }] = await stored("prices");
      const { models } = content.find(({ id }: { id: string }) => id === "openai");
      return (id: string) => models.find((model: { id: string }) => model.id === id)?.prices;
    };
    const present = await openai();
    expect(present("gpt-4.1")).toMatchObject({ input_mtok: 2 });
    expect(present("gpt-4.1-mini")).toBeDefined();
    expect(present("gpt-78")).toBeUndefined();
    expect(present("gpt-79")).toEqual({ input_mtok: 1, output_mtok: 2 });
    expect((await readFeeds()).held.map(({ item }) => item).sort()).toEqual([
      "openai/gpt-4.1",
      "openai/gpt-78",
    ]);
    expect(await acceptHeld("openai/gpt-4.1")).toBe(1);
    expect((await openai())("gpt-4.1")).toMatchObject({ input_mtok: 25 });
    // The same file again is nothing new.
    const before = await stored("prices");
    const again = await fetchPrices();
    expect(await stored("prices")).toEqual(before);
    expect(again).toBe(0);
    expect((await readFeeds()).held.map(({ item }) => item)).toEqual(["openai/gpt-78"]);
  });

  test.each<[string, string | object]>([
    ["no JSON", "<html>"],
    ["an object", {}],
    ["no providers", []],
    [
      "a price below zero",
      [
        {
          id: "a",
          name: "A",
          api_pattern: "",
          models: [{ id: "m", match: { equals: "m" }, prices: { input_mtok: -1 } }],
        },
      ],
    ],
    [
      "a price of 1e9",
      [
        {
          id: "a",
          name: "A",
          api_pattern: "",
          models: [{ id: "m", match: { equals: "m" }, prices: { input_mtok: 1e9 } }],
        },
      ],
    ],
    [
      "a model without a name",
      [{ id: "a", name: "A", api_pattern: "", models: [{ match: { equals: "m" }, prices: {} }] }],
    ],
    [
      "another way to match",
      [{ id: "a", name: "A", api_pattern: "", models: [{ id: "m", match: { script: "m" }, prices: {} }] }],
    ],
    [
      "a new pattern of a provider",
      [{ id: "a", name: "A", api_pattern: "", provider_match: { regex: "(a+)+$" }, models: [] }],
    ],
  ])("Are not stored from %s", async (_, body) => {
    files.set("/prices", typeof body === "string" ? body : JSON.stringify(body));
    expect(await fetchPrices()).toBe(0);
    expect(await stored("prices")).toEqual([]);
    expect(await failure()).toContain(files.url("/prices"));
  });
});
