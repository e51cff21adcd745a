import { describe, expect, test } from "vitest";
import { readKey, readModels, readPrices } from "@/scripts/build-prices.mjs";
import snapshot from "./snapshot.json";

describe("The build of the second catalogue", () => {
  test.each([
    ["input_cost_per_token", { priceKey: "input_mtok", start: 0, service: "standard" }],
    ["output_cost_per_token_batches", { priceKey: "output_mtok", start: 0, service: "batch" }],
    [
      "cache_read_input_token_cost_above_272k_tokens_flex",
      { priceKey: "cache_read_mtok", start: 272_000, service: "flex" },
    ],
    [
      "cache_creation_input_token_cost_above_1hr",
      { priceKey: "cache_write_1h_mtok", start: 0, service: "standard" },
    ],
    [
      "cache_creation_input_token_cost_above_12hr_above_272k_tokens_ultrafast",
      { priceKey: "cache_write_12h_mtok", start: 272_000, service: "ultrafast" },
    ],
    ["output_cost_per_image", undefined],
    ["max_input_tokens", undefined],
  ])("Reads %s", (key, expected) => expect(readKey(key)).toEqual(expected));

  test("Keeps exact prices per million, steps by input, and service tiers", () => {
    const entry = {
      litellm_provider: "openai",
      input_cost_per_token: 1.25e-6,
      input_cost_per_token_above_272k_tokens: 2.5e-6,
      input_cost_per_token_batches: 6.25e-7,
      output_cost_per_token: 1e-5,
    };
    expect(readPrices(entry)).toEqual({
      standard: { input_mtok: { base: 1.25, tiers: [{ start: 272_000, price: 2.5 }] }, output_mtok: 10 },
      batch: { input_mtok: 0.625 },
    });
  });

  test("Multiplies every price for Anthropic's fast mode", () => {
    const entry = {
      litellm_provider: "anthropic",
      input_cost_per_token: 3e-6,
      input_cost_per_token_above_200k_tokens: 6e-6,
      cache_read_input_token_cost: 3e-7,
      output_cost_per_token: 1.5e-5,
      provider_specific_entry: { us: 1.1, fast: 2.5 },
    };
    expect(readPrices(entry)).toMatchObject({
      standard: { output_mtok: 15 },
      fast: {
        input_mtok: { base: 7.5, tiers: [{ start: 200_000, price: 15 }] },
        cache_read_mtok: 0.75,
        output_mtok: 37.5,
      },
    });
  });

  test("Prices rerankers by the thousand searches", () => {
    const entry = {
      litellm_provider: "cohere",
      mode: "rerank",
      input_cost_per_query: 0.002,
      input_cost_per_token: 0,
    };
    expect(readPrices(entry)).toEqual({ standard: { rerank_searches_kcount: 2 } });
  });

  test("Leaves out prices of 0, which mean that nobody filled them in", () => {
    const entry = { litellm_provider: "openai", input_cost_per_token: 0, output_cost_per_token: 0 };
    expect(readPrices(entry)).toBeUndefined();
    expect(readModels({ "a-model": entry })).toEqual({});
  });

  test("Knows the providers by our names, and models without their prefix, in lower case", () => {
    const entry = { litellm_provider: "together_ai", input_cost_per_token: 1e-6 };
    expect(readModels({ "together_ai/meta-llama/Llama-3": entry, "together-ai-up-to-4b": entry })).toEqual({
      together: { "meta-llama/llama-3": { input_mtok: 1 } },
    });
  });

  test("Names its source, licence and day", () => {
    expect(snapshot.source).toMatch(/^litellm \d+\.\d+\.\d+$/);
    expect(snapshot.licence).toBe("MIT");
    expect(snapshot.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Object.keys(snapshot.models).length).toBeGreaterThan(20);
  });
});
