import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDecimal, roundMoney, toText } from "@/lib/decimal";
import { type CatalogueLine, priceFromCatalogue, toScale } from "./catalogue";
import { countRememberedNames } from "./catalogue-match";
import { catalogueVersion } from "./price-table";
import { findUnit } from "./units";

const d = parseDecimal;
const noon = new Date("2026-06-01T12:00:00Z");

type Extra = Partial<Pick<CatalogueLine, "occurredAt" | "cachedQuantity" | "inputQuantity">>;

function price(
  provider: string,
  model: string | undefined,
  unitType: string,
  quantity: string,
  extra: Extra = {},
) {
  return priceFromCatalogue({ provider, model, unitType, quantity: d(quantity), occurredAt: noon, ...extra });
}

function amount(...args: Parameters<typeof price>): string {
  const priced = price(...args);
  return priced.status === "priced" ? toText(priced.amount) : `unpriced: ${priced.reason}`;
}

test("Stores the installed package's version with each amount", () => {
  const manifest = new URL("../../../node_modules/@pydantic/genai-prices/package.json", import.meta.url);
  expect(catalogueVersion).toBe(`genai-prices ${JSON.parse(readFileSync(manifest, "utf8")).version}`);
});

describe("Known prices, to the last digit", () => {
  test.each([
    ["openai", "gpt-4o", "input_tokens", "1", "0.0000025"],
    ["openai", "gpt-4o", "input_tokens", "1234567", "3.0864175"],
    ["openai", "gpt-4o", "output_tokens", "1000", "0.01"],
    ["openai", "gpt-4o", "cached_tokens", "3", "0.00000375"],
    ["openai", "gpt-4o", "web_searches", "7", "0.07"],
    ["anthropic", "claude-sonnet-4-5", "input_tokens", "1000", "0.003"],
    ["anthropic", "claude-sonnet-4-5", "output_tokens", "1000", "0.015"],
    ["anthropic", "claude-sonnet-4-5", "cache_read_input_tokens", "1000", "0.0003"],
    ["anthropic", "claude-sonnet-4-5", "cache_creation_input_tokens", "1000", "0.00375"],
    ["anthropic", "claude-sonnet-4-5", "ephemeral_1h_input_tokens", "1000", "0.006"],
    ["openai", "whisper-1", "audio_seconds", "7", "0.0007"],
    ["openai", "whisper-1", "audio_minutes", "7", "0.042"],
    ["openai", "whisper-1", "audio_hours", "1", "0.36"],
    ["openai", "whisper-1", "audio_seconds", "0.1", "0.00001"],
    ["perplexity", "sonar", "requests", "3", "0.036"],
    // A third of the last digit: rounded once, half-even.
    ["groq", "whisper-large-v3", "audio_seconds", "100", "0.003083333333333333"],
  ])("%s %s %s × %s", (provider, model, unit, quantity, expected) => {
    expect(amount(provider, model, unit, quantity)).toBe(expected);
  });

  test("Shows the exact rate and what was matched", () => {
    expect(price("OpenAI", "gpt-4o-2024-08-06", "promptTokens", "1000")).toEqual({
      status: "priced",
      amount: d("0.0025"),
      price: {
        rate: "0.0000025",
        per: 1,
        unit: "input_tokens",
        source: "catalogue",
        version: catalogueVersion,
        provider: "openai",
        model: "gpt-4o",
      },
    });
  });

  test("Shows a price per hour per 3600 seconds, because it may not divide evenly", () => {
    expect(price("groq", "whisper-large-v3", "audio_seconds", "100")).toMatchObject({
      price: { rate: "0.111", per: 3600, unit: "audio_seconds" },
    });
  });

  test("Bills and shows Groq's minimum of ten seconds", () => {
    const least = "0.000308333333333333";
    expect(price("groq", "whisper-large-v3", "audio_seconds", "3")).toMatchObject({
      amount: d(least),
      price: { minimum: least },
    });
    expect(amount("groq", "whisper-large-v3", "audio_minutes", "0.05")).toBe(least);
    expect(price("groq", "whisper-large-v3", "audio_seconds", "11")).not.toHaveProperty("price.minimum");
  });
});

describe("Providers as clients spell them", () => {
  test.each([
    ["openai", "gpt-4o", "openai"],
    ["OpenAI", "gpt-4o", "openai"],
    ["anthropic", "claude-sonnet-4-5-20250929", "anthropic"],
    ["google", "gemini-2.5-pro", "google"],
    ["vertex", "gemini-2.5-pro", "google"],
    ["google-vertex", "claude-sonnet-4-5", "google"],
    ["azure", "gpt-4o", "azure"],
    ["bedrock", "anthropic.claude-sonnet-4-20250514-v1:0", "aws"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", "aws"],
    ["x-ai", "grok-4", "x-ai"],
    ["xai", "grok-4", "x-ai"],
    ["litellm", "openai/gpt-4o", "openai"],
  ])("Finds %s %s at %s", (provider, model, id) => {
    expect(price(provider, model, "input_tokens", "1000")).toMatchObject({
      status: "priced",
      price: { provider: id },
    });
  });
});

describe("A missing price", () => {
  test.each([
    ["acme", "gpt-4o", "input_tokens", "unknown_provider"],
    ["", "gpt-4o", "input_tokens", "unknown_provider"],
    ["openai", "gpt-99-imaginary", "input_tokens", "unknown_model"],
    ["openai", undefined, "input_tokens", "unknown_model"],
    ["openai", "x".repeat(10_000), "input_tokens", "unknown_model"],
    ["openai", "gpt-4o", "seats", "unknown_unit"],
    ["openai", "gpt-4o", "total_tokens", "unknown_unit"],
    ["openai", "whisper-1", "input_tokens", "no_rate"],
    ["openai", "gpt-4o", "audio_seconds", "no_rate"],
    ["openai", "gpt-4o", "input_audio_tokens", "no_rate"],
    ["openai", "gpt-4o", "cache_write_tokens", "no_rate"],
    ["openai", "text-embedding-3-small", "output_tokens", "no_rate"],
    ["github-copilot", "gpt-4o", "input_tokens", "no_rate"],
  ])("Leaves %s %s %s unpriced: %s", (provider, model, unit, reason) => {
    expect(price(provider, model, unit, "1000")).toEqual({ status: "unpriced", reason });
  });

  const table = (prices: Record<string, number>) => ({ provider: "p", model: "m", prices, version: "v" });
  const unit = (name: string) => findUnit(name) ?? expect.fail(`${name} is no unit`);

  test("Differs from a rate of 0", () => {
    expect(toScale(table({ input_mtok: 0 }), unit("input_tokens"))?.base.price).toMatchObject({
      rate: "0",
    });
    expect(toScale(table({ input_mtok: 0 }), unit("output_tokens"))).toBeNull();
    expect(toScale(table({}), unit("input_tokens"))).toBeNull();
  });

  test("Bills reasoning as output unless it has its own price", () => {
    expect(amount("openai", "o3", "reasoning_tokens", "1000")).toBe(
      amount("openai", "o3", "output_tokens", "1000"),
    );
    expect(price("openai", "o3", "reasoning_tokens", "1000")).toMatchObject({
      price: { unit: "output_tokens" },
    });
    expect(amount("perplexity", "sonar-deep-research", "reasoning_tokens", "1000")).toBe("0.003");
  });

  test("Never throws, for any model and unit of the catalogue", async () => {
    const { waitForUpdate } = await import("@pydantic/genai-prices");
    for (const provider of (await waitForUpdate()) ?? []) {
      for (const model of provider.models) {
        for (const name of ["input_tokens", "output_tokens", "cache_read_tokens", "requests"]) {
          const priced = price(provider.id, model.id, name, "1000");
          if (priced.status === "priced" && toText(priced.amount) === "0")
            expect(priced.price.rate).toBe("0");
        }
      }
    }
  });
});

describe("Cached tokens", () => {
  test("Prices an included part (OpenAI) at the cache price and the rest at the input price", () => {
    const priced = price("openai", "gpt-4o", "input_tokens", "1000", { cachedQuantity: d("400") });
    expect(priced).toMatchObject({
      amount: d("0.002"), // 600 × 2.50/M + 400 × 1.25/M
      price: {
        rate: "0.0000025",
        cached: { rate: "0.00000125", unit: "cache_read_tokens", quantity: "400" },
      },
    });
    expect(amount("openai", "gpt-4o", "input_tokens", "1000", { cachedQuantity: d("1000") })).toBe("0.00125");
    expect(amount("openai", "gpt-4o", "input_tokens", "1000", { cachedQuantity: d("0") })).toBe("0.0025");
  });

  test("Prices tokens beside the input (Anthropic) as their own line, however many", () => {
    expect(amount("anthropic", "claude-sonnet-4-5", "input_tokens", "12")).toBe("0.000036");
    expect(amount("anthropic", "claude-sonnet-4-5", "cache_read_input_tokens", "100000")).toBe("0.03");
  });

  test.each([
    ["more than the whole", "input_tokens", "1001"],
    ["negative", "input_tokens", "-1"],
    ["of an output line", "output_tokens", "10"],
    ["of a cache line", "cache_read_tokens", "10"],
  ])("Leaves a cached part that is %s unpriced without throwing", (_, unitType, cached) => {
    const priced = price("anthropic", "claude-sonnet-4-5", unitType, "1000", { cachedQuantity: d(cached) });
    expect(priced).toEqual({ status: "unpriced", reason: "invalid_cached_quantity" });
  });

  test("Leaves the whole line unpriced when the model has no cache price", () => {
    expect(amount("openai", "gpt-4", "input_tokens", "1000", { cachedQuantity: d("1") })).toBe(
      "unpriced: no_rate",
    );
  });
});

describe("Price tiers", () => {
  const sonnet = (unit: string, quantity: string, extra: Extra = {}) =>
    amount("anthropic", "claude-sonnet-4-5", unit, quantity, extra);

  const request = (input: string) => ({ inputQuantity: d(input) });

  test("Set the price of the whole line when the request's input is above the threshold", () => {
    expect(sonnet("input_tokens", "200000", request("200000"))).toBe("0.6");
    expect(sonnet("input_tokens", "200001", request("200001"))).toBe("1.200006");
    expect(sonnet("cache_read_tokens", "300000", request("300000"))).toBe("0.18");
    expect(sonnet("output_tokens", "1000", request("200001"))).toBe("0.0225");
    expect(sonnet("input_tokens", "1000", request("200001"))).toBe("0.006");
    const told = (input: string) =>
      price("anthropic", "claude-sonnet-4-5", "input_tokens", "1", request(input));
    expect(told("200001")).toMatchObject({ price: { rate: "0.000006", tier: { aboveInputTokens: 200000 } } });
    expect(told("200000")).not.toHaveProperty("price.tier");
  });

  test("Set the price of the cached part too", () => {
    const extra = { cachedQuantity: d("150000"), ...request("300000") };
    expect(sonnet("input_tokens", "300000", extra)).toBe("0.99"); // 150k × 6/M + 150k × 0.6/M
  });

  test("Leave a line at the base price without its request's input, however large its sum", () => {
    expect(sonnet("input_tokens", "1000001")).toBe("3.000003");
    expect(sonnet("output_tokens", "300000")).toBe("4.5");
  });
});

test("Prices at the highest tier passed, in any order of the catalogue", () => {
  const unit = findUnit("input_tokens") ?? expect.fail();
  const tiers = [
    { start: 100, price: 2 },
    { start: 300, price: 4 },
    { start: 200, price: 3 },
  ];
  const scale = toScale(
    { provider: "p", model: "m", prices: { input_mtok: { base: 1, tiers } }, version: "v" },
    unit,
  );
  expect(scale?.tiers.map(({ rate }) => rate.price.rate)).toEqual(["0.000004", "0.000003", "0.000002"]);
});

describe("Dated prices", () => {
  const at = (text: string) => ({ occurredAt: new Date(text) });

  test("Begin at midnight UTC of their start date", () => {
    const opus = (text: string) =>
      amount("anthropic", "claude-opus-4-6", "input_tokens", "300000", {
        ...at(text),
        inputQuantity: d("300000"),
      });
    expect(opus("2026-03-12T23:59:59.999Z")).toBe("3"); // tiered then: 10/M above 200k
    expect(opus("2026-03-13T00:00:00Z")).toBe("1.5");
    expect(opus("2026-03-12T23:59:59.999Z")).toBe("3"); // and again, remembered
  });

  test("Hold within their hours in UTC", () => {
    const flash = (text: string) =>
      amount("deepseek", "deepseek-v4-flash", "input_tokens", "1000000", at(text));
    const day = "2026-09-29T";
    expect(flash(`${day}00:59:59.999Z`)).toBe(flash(`${day}12:00:00Z`));
    expect(flash(`${day}01:00:00Z`)).toBe("0.44");
    expect(flash(`${day}03:59:59.999Z`)).toBe("0.44");
    expect(flash(`${day}04:00:00Z`)).toBe("0.22");
    expect(flash(`${day}06:00:00Z`)).toBe("0.44");
    expect(flash(`${day}10:00:00Z`)).toBe("0.22");
  });

  test("Finds no price at an invalid instant, and still prices others", () => {
    expect(amount("anthropic", "claude-opus-4-6", "input_tokens", "1", at("never"))).toBe(
      "unpriced: no_rate",
    );
    expect(amount("anthropic", "claude-opus-4-6", "input_tokens", "1000")).toBe("0.005");
  });
});

test("Does not grow its memory with invented model names", () => {
  for (let i = 0; i < 12_000; i++) price("anthropic", `invented-${i}`, "input_tokens", "1");
  expect(countRememberedNames()).toBeLessThanOrEqual(8_000);
  const before = countRememberedNames();
  price("anthropic", "invented-once", "input_tokens", "1");
  price("anthropic", "invented-once", "output_tokens", "1");
  expect(countRememberedNames()).toBe(before + 1);
  expect(amount("openai", "gpt-4o", "input_tokens", "1000")).toBe("0.0025");
});

test("Computes quantity × rate exactly, as rational arithmetic does", () => {
  // gpt-4o: 2.50 and 1.25 per million, that is 25 × 10^-7 and 125 × 10^-8 a token.
  const whole = fc.bigInt(0n, 10n ** 20n);
  fc.assert(
    fc.property(whole, whole, fc.nat(14), (a, b, scale) => {
      const [cached, quantity] = a < b ? [a, b] : [b, a];
      const inUnits = (value: bigint) => `${value}e-${scale}`;
      const expected = (quantity - cached) * 250n + cached * 125n;
      const text = amount("openai", "gpt-4o", "input_tokens", inUnits(quantity), {
        cachedQuantity: d(inUnits(cached)),
      });
      expect(text).toBe(toText(roundMoney(d(`${expected}e-${scale + 8}`))));
    }),
  );
});

test.each([
  ["1e-12", "0.000000000000000002"], // 2.5 of the last digit, to even
  ["4e-13", "0.000000000000000001"],
  ["1e15", "2500000000"],
  ["9007199254740993", "22517998136.8524825"],
])("Prices a quantity of %s at %s", (quantity, expected) => {
  expect(amount("openai", "gpt-4o", "input_tokens", quantity)).toBe(expected);
});

test("Prices a quantity of 1e308 as a finite amount", () => {
  expect(amount("openai", "gpt-4o", "input_tokens", "1e308")).toBe(`25${"0".repeat(301)}`);
});
