import { describe, expect, test } from "vitest";
import { shippedProviders } from "@/lib/ledger/pricing/first-catalogue";
import { priceUnpriced } from "@/lib/ledger/published/price-unpriced";
import { acceptHeld, readFeeds } from "@/lib/ledger/published/review";
import { costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { day, withPublished } from "@/tests/helpers/published";

const { harness, rowsOf, files, fetchPrices, stored, failure, newWorkspace } = withPublished(2);

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

    files().set(
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
    files().set(
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
    files().set("/prices", typeof body === "string" ? body : JSON.stringify(body));
    expect(await fetchPrices()).toBe(0);
    expect(await stored("prices")).toEqual([]);
    expect(await failure()).toContain(files().url("/prices"));
  });
});
