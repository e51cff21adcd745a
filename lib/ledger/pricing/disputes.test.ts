import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { catalogueRate, priceFromCatalogue } from "./catalogue";
import { type Dispute, findDisputes } from "./disputes";
import { findInFirstCatalogue } from "./first-catalogue";
import { candidates } from "./names/models";
import { allModelsOfSecondCatalogue } from "./second-catalogue/second-catalogue";
import snapshot from "./second-catalogue/snapshot.json";

const today = new Date("2026-11-22T12:00:00Z");

const perMillion = ({ unitType, applied, other }: Dispute) =>
  `${unitType} ${Number(applied.rate) * 1e6} / ${Number(other.rate) * 1e6}`;

describe("Two catalogues", () => {
  test("Disagree about a price where they differ by 10% or more", () => {
    const found = findDisputes("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo");
    expect(found.map(perMillion)).toEqual(["input_tokens 0.88 / 1.04", "output_tokens 0.88 / 1.04"]);
    expect(found[0]?.applied.source).toBe("genai-prices 0.1.8");
    expect(found[0]?.other.source).toMatch(/^litellm /);
  });

  test("Disagree about a region's price and that without one, which differ by exactly 10%", () => {
    expect(findDisputes("aws", "anthropic.claude-opus-4-8").map(perMillion)).toContain(
      "input_tokens 5.5 / 5",
    );
    expect(findDisputes("aws", "us.anthropic.claude-opus-4-8")).toEqual([]);
  });

  test("Disagree about one kind of token, and agree about the others", () => {
    expect(findDisputes("azure", "phi-4-mini-instruct").map(perMillion)).toEqual([
      "output_tokens 0.35 / 0.3",
    ]);
  });

  test.each([
    ["the same price", "openai", "gpt-5"],
    ["a price of its own in only one of them", "openai", "gpt-4"],
    ["prices by the hour, one of which agrees", "deepseek", "deepseek-v4-pro"],
    ["an unknown model", "openai", "gpt-99"],
    ["an unknown provider", "acme", "gpt-4o"],
  ])("Agree with %s", (_, provider, model) => expect(findDisputes(provider, model)).toEqual([]));

  test("Agree about our corrections of the first one", () => {
    expect(findDisputes("deepseek", "deepseek-chat")).toEqual([]);
  });

  test("Find a dispute under every name of the model", () => {
    const model = "meta-llama/Llama-3.3-70B-Instruct-Turbo";
    expect(findDisputes("together_ai", `together_ai/${model}`)).toHaveLength(2);
    expect(findDisputes("Together AI", model.toLowerCase())).toHaveLength(2);
  });

  test("Never leave the applied price to chance: it is what usage costs, for every model", () => {
    const wrong: string[] = [];
    let disputes = 0;
    for (const { provider, model } of allModelsOfSecondCatalogue()) {
      for (const { unitType, applied, other } of findDisputes(provider, model)) {
        disputes++;
        const priced = priceFromCatalogue({
          provider,
          model,
          unitType,
          quantity: parseDecimal(1),
          occurredAt: today,
        });
        const cost = priced.status === "priced" ? toText(priced.amount) : priced.reason;
        const ratio = Number(applied.rate) / Number(other.rate);
        // Of prices by the hour, the one nearest to the other catalogue is compared.
        if (cost !== applied.rate && provider !== "deepseek") wrong.push(`${provider}/${model} ${unitType}`);
        if (ratio < 1.0999 && ratio > 1 / 1.0999) wrong.push(`${provider}/${model} ${unitType}: ${ratio}`);
      }
    }
    expect(disputes).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });
});

describe("Aliases and names of regions", () => {
  /**
   * The first catalogue's name for the model of an alias or a region, and the surcharge of the region; undefined for other names.
   */
  function basisOf(provider: string, model: string): { model: string; factor: number } | undefined {
    if (provider === "mistral" && model.endsWith("-latest"))
      return { model: model === "ministral-3b-latest" ? "ministral-3b-2512" : model, factor: 1 };
    if (provider === "deepseek") return { model, factor: 1 };
    const [, region, base = ""] = (provider === "azure" && /^(us|eu|global)\/(.+)$/.exec(model)) || [];
    if (region) return { model: base, factor: region === "global" ? 1 : 1.1 };
    const isOfBedrock = provider === "aws" && /^[a-z-]{2,6}\.anthropic\./.test(model);
    return isOfBedrock ? { model, factor: 1 } : undefined;
  }

  /** The first catalogue's price, USD for one token; undefined if it has none. */
  function listedFirst(provider: string, model: string, key: "input_mtok" | "output_mtok") {
    const [match] = findInFirstCatalogue(candidates(provider, model));
    const listed = match?.pricesAt(today)?.prices[key];
    const price = typeof listed === "object" ? listed.base : listed;
    return price === undefined ? undefined : price / 1e6;
  }

  test("Cost what both catalogues say or are marked, where both list them", () => {
    const contradicted = new Set<string>();
    let agreed = 0;
    for (const { provider, model } of allModelsOfSecondCatalogue()) {
      const basis = basisOf(provider, model);
      if (!basis) continue;
      const disputed = findDisputes(provider, model).map(({ unitType }) => unitType);
      for (const [unitType, key] of [
        ["input_tokens", "input_mtok"],
        ["output_tokens", "output_mtok"],
      ] as const) {
        const line = { provider, model, unitType, quantity: parseDecimal(1), occurredAt: today };
        const applied = catalogueRate(line, unitType);
        const listed = listedFirst(provider, basis.model, key);
        if (typeof applied === "string" || listed === undefined || disputed.includes(unitType)) continue;
        // An undisputed price of the first catalogue or a correction is also the second one's.
        const ratio = Number(applied.price.rate) / (listed * basis.factor);
        const isSeconds = applied.price.version === snapshot.source;
        if (!isSeconds || (ratio > 0.99 && ratio < 1.01)) agreed += 1;
        else contradicted.add(`${provider}/${model}`);
      }
    }
    expect(agreed).toBeGreaterThan(200);
    // For these models, Europe costs a fifth more than the global region, and not a tenth as for all others.
    expect([...contradicted]).toEqual(["azure/eu/gpt-6-astra", "azure/eu/gpt-6-luna", "azure/eu/gpt-6-sol"]);
  });

  test.each([
    ["mistral", "magistral-small-latest", ["input_tokens 0.5 / 0.15", "output_tokens 1.5 / 0.6"]],
    ["mistral", "mistral-large-latest", []],
    ["deepseek", "deepseek-v4-pro", []],
    ["deepseek", "deepseek-v4-flash", ["input_tokens 0.22 / 0.3", "cache_read_tokens 0.007 / 0.006"]],
    ["azure", "eu/gpt-4o", []],
    ["aws", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", []],
  ])("%s %s: %j", (provider, model, expected) =>
    expect(findDisputes(provider, model).map(perMillion).slice(0, 2)).toEqual(expected),
  );
});
