import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare, DecimalError, multiply, parseDecimal, roundMoney, toText } from "@/lib/decimal";
import { cachedQuantityIssue } from "./price-line";
import { callInputTokens, type PriceOverride, priceUsage, type Usage } from "./price-message";
import { allModelsOfSecondCatalogue } from "./second-catalogue/second-catalogue";

const d = parseDecimal;
const noon = new Date("2026-06-01T12:00:00Z");

const usage = (change: Partial<Usage> = {}): Usage => ({
  provider: "openai",
  model: "gpt-4o",
  unitType: "input_tokens",
  quantity: d("1000"),
  occurredAt: noon,
  ...change,
});

let lastId = 0;
const override = (change: Partial<PriceOverride> = {}): PriceOverride => ({
  id: `price-${++lastId}`,
  provider: "openai",
  model: "gpt-4o",
  unitType: "input_tokens",
  rate: "0.000001",
  startsAt: new Date("2026-01-01T00:00:00Z"),
  ...change,
});

const amount = (change: Partial<Usage>) => toText(priceUsage(usage(change)).amount);

describe("The order of prices", () => {
  test("Prefers the client's own figure to every price", () => {
    expect(priceUsage(usage({ estimatedCost: d("0.07"), overrides: [override()] }))).toEqual({
      costStatus: "client",
      amount: d("0.07"),
      price: null,
    });
  });

  test("Treats a client's 0 as a price, not as unpriced", () => {
    expect(priceUsage(usage({ estimatedCost: d("0") }))).toMatchObject({ costStatus: "client" });
  });

  test("Rounds a client's figure to the ledger's scale", () => {
    expect(amount({ estimatedCost: d("1e-19") })).toBe("0");
    expect(amount({ estimatedCost: d("0.12345678901234567855") })).toBe("0.123456789012345679");
  });

  test("Prefers the workspace's price to the catalogue's and names it", () => {
    const own = override({ rate: "0.00000200" });
    expect(priceUsage(usage({ overrides: [own] }))).toEqual({
      costStatus: "priced",
      amount: d("0.002"),
      price: {
        rate: "0.000002",
        per: 1,
        unit: "input_tokens",
        source: "override",
        version: own.id,
        provider: "openai",
        model: "gpt-4o",
      },
    });
  });

  test("Uses the catalogue's price where the workspace has none", () => {
    expect(priceUsage(usage())).toMatchObject({
      costStatus: "priced",
      amount: d("0.0025"),
      price: { source: "catalogue" },
    });
  });

  test("Leaves a line without any price unpriced: amount 0, no price, a reason", () => {
    expect(priceUsage(usage({ model: "gpt-99-imaginary" }))).toEqual({
      costStatus: "unpriced",
      amount: d("0"),
      price: null,
      reason: "unknown_model",
    });
  });

  test("Treats a workspace's price of 0 as a price", () => {
    expect(priceUsage(usage({ overrides: [override({ rate: "0" })] }))).toMatchObject({
      costStatus: "priced",
      price: { rate: "0", source: "override" },
    });
  });
});

describe("The workspace price that applies", () => {
  test("Is the latest that has started, from its exact instant", () => {
    const overrides = [
      override({ rate: "0.2", startsAt: new Date("2026-06-01T12:00:00.000Z") }),
      override({ rate: "0.1", startsAt: new Date("2026-01-01T00:00:00Z") }),
      override({ rate: "0.3", startsAt: new Date("2026-06-01T12:00:00.001Z") }),
    ];
    expect(amount({ overrides })).toBe("200");
    expect(amount({ overrides, occurredAt: new Date("2026-06-01T11:59:59.999Z") })).toBe("100");
    expect(amount({ overrides, occurredAt: new Date("2026-06-01T12:00:00.001Z") })).toBe("300");
    expect(amount({ overrides, occurredAt: new Date("2025-12-31T23:59:59.999Z") })).toBe("0.0025");
  });

  test("Is one for the model before one for the provider, even when older", () => {
    const overrides = [
      override({ rate: "0.2", model: null, startsAt: new Date("2026-05-01T00:00:00Z") }),
      override({ rate: "0.1" }),
    ];
    expect(amount({ overrides })).toBe("100");
    expect(amount({ overrides, model: "gpt-99-imaginary" })).toBe("200");
    expect(amount({ overrides, model: undefined })).toBe("200");
  });

  test("Is always the same of two with one start, in any order", () => {
    const [a, b] = [override({ id: "a", rate: "0.1" }), override({ id: "b", rate: "0.2" })];
    expect(amount({ overrides: [a, b] })).toBe("200");
    expect(amount({ overrides: [b, a] })).toBe("200");
  });

  test.each([[{ provider: "anthropic" }], [{ model: "gpt-4" }], [{ unitType: "output_tokens" }]])(
    "Is not one for another %o",
    (change) => {
      expect(amount({ overrides: [override({ rate: "9", ...change })] })).toBe("0.0025");
    },
  );

  test("Is found by names without regard to case, and by the unit's meaning", () => {
    const overrides = [
      override({ provider: " OpenAI ", model: "GPT-4o", unitType: "promptTokens", rate: "0.1" }),
    ];
    expect(amount({ overrides })).toBe("100");
  });

  test("Can be for a unit that the catalogue does not know", () => {
    const overrides = [override({ provider: "acme", model: null, unitType: "GPU_Hours", rate: "1.5" })];
    expect(
      amount({ provider: "acme", model: undefined, unitType: "gpu_hours", quantity: d("2.5"), overrides }),
    ).toBe("3.75");
  });

  test("Throws when its rate is not a decimal", () => {
    expect(() => priceUsage(usage({ overrides: [override({ rate: "free" })] }))).toThrow(DecimalError);
  });
});

describe("A cached part", () => {
  const cached = { cachedQuantity: d("400") };

  test("Uses its own workspace price or the catalogue's cache price", () => {
    const input = override({ rate: "0.1" });
    expect(amount({ ...cached, overrides: [input] })).toBe("60.0005");
    expect(
      amount({ ...cached, overrides: [input, override({ unitType: "cached_tokens", rate: "0.01" })] }),
    ).toBe("64");
  });

  test("Leaves the line unpriced without a price of its own", () => {
    const overrides = [override({ provider: "acme", model: null, rate: "0.1" })];
    expect(priceUsage(usage({ ...cached, provider: "acme", overrides }))).toMatchObject({
      costStatus: "unpriced",
      reason: "unknown_provider",
    });
  });

  test.each([
    ["input_tokens", "1000", undefined],
    ["input_tokens", "1001", "must not exceed"],
    ["input_tokens", "-1", "must not be negative"],
    ["output_tokens", "1", "only possible for input tokens"],
  ])("%s with %s cached of 1000", (unitType, cachedQuantity, sentence) => {
    const issue = cachedQuantityIssue({ unitType, quantity: d("1000"), cachedQuantity: d(cachedQuantity) });
    if (sentence === undefined) expect(issue).toBeUndefined();
    else expect(issue).toContain(sentence);
  });
});

test("Rounds quantity × rate once, and never costs less for more", () => {
  const decimalText = fc
    .tuple(fc.bigInt(0n, 10n ** 18n), fc.nat(18))
    .map(([coefficient, scale]) => toText(d(`${coefficient}e-${scale}`)));
  fc.assert(
    fc.property(decimalText, decimalText, decimalText, (rate, a, b) => {
      const overrides = [override({ rate })];
      const priced = priceUsage(usage({ quantity: d(a), overrides }));
      expect(toText(priced.amount)).toBe(toText(roundMoney(multiply(d(a), d(rate)))));
      const other = priceUsage(usage({ quantity: d(b), overrides }));
      if (compare(d(a), d(b)) <= 0) expect(compare(priced.amount, other.amount)).toBeLessThanOrEqual(0);
    }),
  );
});

describe("Service tiers", () => {
  const tier = (model: string, serviceTier: Usage["serviceTier"], change: Partial<Usage> = {}) =>
    priceUsage(usage({ model, serviceTier, ...change }));

  test.each([
    ["openai", "gpt-5", undefined, "0.00125"],
    ["openai", "gpt-5", "standard", "0.00125"],
    ["openai", "gpt-5", "batch", "0.000625"],
    ["openai", "gpt-5", "flex", "0.000625"],
    ["openai", "gpt-5", "priority", "0.0025"],
    ["anthropic", "claude-sonnet-4-5", "batch", "0.0015"],
    ["anthropic", "claude-opus-4-8[1m]", "batch", "0.0025"],
    ["anthropic", "claude-opus-4-8[1m]", "fast", "0.01"],
    ["openai", "gpt-6.1-sol", "ultrafast", "0.012"],
    // Groq's tiers cost the same.
    ["groq", "llama-3.3-70b-versatile", "flex", "0.00059"],
  ] as const)("%s %s %s costs %s a thousand input tokens", (provider, model, serviceTier, expected) => {
    expect(toText(tier(model, serviceTier, { provider }).amount)).toBe(expected);
  });

  test("Name their tier and the catalogue that has it", () => {
    expect(tier("gpt-5", "batch")).toMatchObject({
      price: { source: "catalogue", version: expect.stringMatching(/^litellm /), tier: { service: "batch" } },
    });
    expect(tier("gpt-5", "standard")).not.toHaveProperty("price.tier");
  });

  test("Without a price leave the usage unpriced, rather than at the standard price", () => {
    expect(tier("claude-sonnet-4-5", "flex", { provider: "anthropic" })).toMatchObject({
      costStatus: "unpriced",
      reason: "no_rate",
    });
  });

  test.each([
    ["claude-opus-4-8", "fast", "cache_read_tokens", "0.001"],
    ["claude-opus-4-8", "fast", "cache_write_5m_tokens", "0.0125"],
    ["claude-opus-4-8", "fast", "cache_write_1h_tokens", "0.02"],
    ["claude-opus-4-8", "batch", "cache_write_1h_tokens", "0.005"],
    ["claude-opus-4-8", "batch", "web_searches", "10"],
    ["anthropic.claude-opus-4-20250514-v1:0", "standard", "cache_write_1h_tokens", "0.03"],
  ] as const)("%s %s costs a thousand %s of %s", (model, service, unitType, expected) => {
    const provider = model.startsWith("anthropic.") ? "aws" : "anthropic";
    expect(toText(tier(model, service, { provider, unitType }).amount)).toBe(expected);
  });

  test("Price the cached part at the tier's cache price", () => {
    expect(toText(tier("gpt-5", "batch", { cachedQuantity: d("400") }).amount)).toBe("0.0004"); // 600 × 0.625/M + 400 × 0.0625/M
  });

  test("Have long-context prices of their own", () => {
    const long = tier("gpt-5.4", "batch", { inputQuantity: d("272001") });
    expect(long).toMatchObject({
      amount: d("0.0025"),
      price: { tier: { service: "batch", aboveInputTokens: 272_000 } },
    });
    expect(toText(tier("gpt-5.4", "batch", { inputQuantity: d("272000") }).amount)).toBe("0.00125");
  });

  test("Leave a workspace's own price as it is", () => {
    expect(toText(tier("gpt-4o", "batch", { overrides: [override()] }).amount)).toBe("0.001");
  });
});

describe("What Claude costs to write to the cache", () => {
  const at = new Date("2026-11-22T12:00:00Z");
  const claude = allModelsOfSecondCatalogue().filter(({ model }) => model.includes("claude"));
  const rate = (one: (typeof claude)[number], unitType: string, serviceTier: Usage["serviceTier"]) => {
    const priced = priceUsage(
      usage({ ...one, unitType, serviceTier, occurredAt: at, quantity: d("1000000") }),
    );
    return priced.costStatus === "priced" ? toText(priced.amount) : undefined;
  };

  // If a catalogue lists the price, it agrees with the rule for models without a listed price.
  test("Is twice the input for an hour, in every tier and on every cloud", () => {
    const differing = claude.flatMap((one) =>
      (["standard", "batch", "fast"] as const).flatMap((service) => {
        const input = rate(one, "input_tokens", service);
        const written = rate(one, "cache_write_1h_tokens", service);
        if (input === undefined || written === toText(multiply(d(input), d("2")))) return [];
        return `${one.provider}/${one.model} ${service}: ${input} → ${written}`;
      }),
    );
    expect(differing).toEqual([]);
    expect(claude.length).toBeGreaterThan(100);
  });

  test("Is 1.25 times the input for five minutes, where it is listed", () => {
    // Anthropic lists USD 0.30 for Claude 3 Haiku, not 0.3125.
    const differing = claude
      .filter(({ model }) => !model.includes("claude-3-haiku"))
      .flatMap((one) => {
        const input = rate(one, "input_tokens", "standard");
        const written = rate(one, "cache_write_5m_tokens", "standard");
        if (input === undefined || written === undefined) return [];
        return written === toText(multiply(d(input), d("1.25")))
          ? []
          : `${one.provider}/${one.model}: ${input} → ${written}`;
      });
    expect(differing).toEqual([]);
  });
});

describe("A call of several lines", () => {
  const call = [
    { unitType: "input_tokens", quantity: d("200") },
    { unitType: "cache_read_input_tokens", quantity: d("190000") },
    { unitType: "cache_creation_input_tokens", quantity: d("9801") },
    { unitType: "output_tokens", quantity: d("1000") },
    { unitType: "reasoning_tokens", quantity: d("500") },
    { unitType: "web_searches", quantity: d("3") },
  ];

  test("Counts fresh tokens, cache reads and cache writes as its input", () => {
    expect(toText(callInputTokens(call))).toBe("200001");
    expect(toText(callInputTokens([]))).toBe("0");
    expect(toText(callInputTokens([{ unitType: "widgets", quantity: d("5") }]))).toBe("0");
  });

  test.each([
    ["anthropic", "claude-sonnet-4-5", 200_000, ["0.0012", "0.114", "0.0735075", "0.0225"]],
    ["google", "gemini-2.5-pro", 200_000, ["0.0005", "0.0475", undefined, "0.015"]],
  ] as const)(
    "Prices every line of %s %s by the step of the whole call",
    (provider, model, step, expected) => {
      const price = (unitType: string, quantity: (typeof call)[number]["quantity"], total: string) =>
        priceUsage(usage({ provider, model, unitType, quantity, inputQuantity: d(total) }));
      for (const [index, amount] of expected.entries()) {
        const { unitType, quantity } = call[index] ?? expect.fail();
        const long = price(unitType, quantity, toText(callInputTokens(call)));
        if (amount === undefined) expect(long.costStatus).toBe("unpriced");
        else expect(long).toMatchObject({ amount: d(amount), price: { tier: { aboveInputTokens: step } } });
        expect(price(unitType, quantity, String(step))).not.toHaveProperty("price.tier");
      }
    },
  );
});
