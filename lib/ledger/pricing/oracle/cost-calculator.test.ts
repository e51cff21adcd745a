import { calcPrice, waitForUpdate } from "@pydantic/genai-prices";
import {
  calculateCost,
  getAllSupportedModels,
  getModelPricing,
  type ModelPricing,
} from "ai-sdk-cost-calculator";
import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { priceFromCatalogue } from "@/lib/ledger/pricing/catalogue";
import { catalogueVersion } from "@/lib/ledger/pricing/price-table";
import explainedDifferences from "./cost-calculator-differences.json";

/*
 * Compares every price with two calculators: `ai-sdk-cost-calculator`, which has its own tables and arithmetic, and the catalogue's own
 * calculator, which has the same tables and float arithmetic.
 *
 * If the tables of the first one differ from the catalogue's, the pair of rates is in cost-calculator-differences.json under its reason. A
 * difference that is not listed fails, and so does a listed one that no longer exists: a price has changed and must be checked.
 */
const instant = new Date("2026-09-29T12:00:00Z");

/** The calculator's name of a provider → the catalogue's, without providers that the catalogue lacks. */
const providers: Record<string, string> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  xai: "x-ai",
  deepseek: "deepseek",
  perplexity: "perplexity",
  mistral: "mistral",
  groq: "groq",
  cerebras: "cerebras",
  cohere: "cohere",
  together: "together",
  fireworks: "fireworks",
  openrouter: "openrouter",
  zhipu: "zhipuai",
  "z-ai": "zai",
  moonshotai: "moonshotai",
};

/** The four lines of a request, in tokens; `input` excludes tokens that were read from or written to a cache. */
const requests = {
  short: { input: 12_345, output: 6_789, cacheRead: 3_210, cacheWrite: 1_234 },
  long: { input: 900_000, output: 6_789, cacheRead: 30_000, cacheWrite: 10_000 },
};
type Request = (typeof requests)["short"];
type Part = keyof Request;

const parts = {
  input: { unit: "input_tokens", rate: "inputPer1MTokens", cost: "inputCost" },
  output: { unit: "output_tokens", rate: "outputPer1MTokens", cost: "outputCost" },
  cacheRead: { unit: "cache_read_tokens", rate: "cacheReadPer1MTokens", cost: "cacheReadCost" },
  cacheWrite: { unit: "cache_write_tokens", rate: "cacheWritePer1MTokens", cost: "cacheWriteCost" },
} as const;

const inputOf = (request: Request) => request.input + request.cacheRead + request.cacheWrite;

function priceOurs(provider: string, model: string, request: Request, part: Part): number | undefined {
  const priced = priceFromCatalogue({
    provider,
    model,
    unitType: parts[part].unit,
    quantity: parseDecimal(request[part]),
    inputQuantity: parseDecimal(inputOf(request)),
    occurredAt: instant,
  });
  return priced.status === "priced" ? Number(toText(priced.amount)) : undefined;
}

/** Whether all four prices of a model are from one entry of the first catalogue, to which the calculator belongs. */
function isOfOneEntry(provider: string, model: string): boolean {
  const origins = Object.values(parts).flatMap(({ unit }) => {
    const line = { provider, model, unitType: unit, quantity: parseDecimal(1), occurredAt: instant };
    const priced = priceFromCatalogue(line);
    return priced.status === "priced" ? [`${priced.price.version} ${priced.price.model}`] : [];
  });
  return new Set(origins).size === 1 && origins[0]?.startsWith(`${catalogueVersion} `) === true;
}

function priceTheirs(provider: string, model: string, request: Request, part: Part): number | undefined {
  const pricing = getModelPricing(provider, model);
  if (pricing?.[parts[part].rate] === undefined) return undefined;
  // The calculator bills voice by the minute and by the event, and throws if it gets only tokens.
  if (pricing.sessionPerMinute !== undefined || pricing.textInputPerMessage !== undefined) return undefined;
  const cost = calculateCost({
    model,
    customPricing: scaleRates(pricing),
    usage: {
      inputTokens: inputOf(request),
      outputTokens: request.output,
      totalTokens: inputOf(request) + request.output,
      inputTokenDetails: {
        noCacheTokens: request.input,
        cacheReadTokens: request.cacheRead,
        cacheWriteTokens: request.cacheWrite,
      },
      outputTokenDetails: { textTokens: request.output, reasoningTokens: 0 },
    },
  });
  return cost[parts[part].cost] / scale;
}

/** The calculator rounds each cost to a millionth of a dollar. With rates a billion times as high, that has no effect. */
const scale = 1e9;
const scaleRates = (pricing: ModelPricing): ModelPricing =>
  Object.fromEntries(
    Object.entries(pricing).map(([key, value]) => [
      key,
      typeof value === "number" && key.endsWith("Per1MTokens") ? value * scale : value,
    ]),
  ) as unknown as ModelPricing;

const isSame = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/** USD per million tokens, short enough to read. */
const perMillion = (amount: number, tokens: number) => Number(((amount * 1e6) / tokens).toPrecision(10));

function compareWithTheirs() {
  const compared = new Set<string>();
  const silentZeros: string[] = [];
  const differences: Record<string, string> = {};
  let amounts = 0;
  for (const { provider, modelId } of getAllSupportedModels()) {
    const catalogueProvider = providers[provider];
    if (!catalogueProvider) continue;
    const name = `${provider}/${modelId}`;
    for (const part of Object.keys(parts) as Part[]) {
      for (const [length, request] of Object.entries(requests)) {
        const ours = priceOurs(catalogueProvider, modelId, request, part);
        const theirs = priceTheirs(provider, modelId, request, part);
        if (ours === undefined || theirs === undefined) continue;
        compared.add(name);
        amounts++;
        if (ours === 0 && theirs !== 0) silentZeros.push(`${name} ${part}`);
        if (isSame(ours, theirs)) continue;
        const pair = `${perMillion(ours, request[part])} / ${perMillion(theirs, request[part])}`;
        if (differences[`${name} short ${part}`] !== pair) differences[`${name} ${length} ${part}`] = pair;
      }
    }
  }
  return { compared, silentZeros, differences, amounts };
}

describe("An independent calculator with its own price tables", () => {
  const { compared, silentZeros, differences, amounts } = compareWithTheirs();
  const groups: { why: string; differences: Record<string, string> }[] = explainedDifferences;
  const explained = Object.fromEntries(groups.flatMap((group) => Object.entries(group.differences)));

  test("Prices at least 300 of the catalogue's models", () => {
    expect(compared.size).toBeGreaterThanOrEqual(300);
    expect(amounts).toBeGreaterThanOrEqual(2 * compared.size);
  });

  test("Never charges where our price is 0", () => {
    expect(silentZeros).toEqual([]);
  });

  test("Agrees to a billionth, or the difference is known and explained", () => {
    expect(differences).toEqual(explained);
  });
});

test("Bills images as input and reasoning as output where the catalogue has no own price", () => {
  const disagreements: string[] = [];
  let agreements = 0;
  for (const { provider, modelId } of getAllSupportedModels()) {
    const theirs = getModelPricing(provider, modelId);
    for (const [unitType, listed] of [
      ["input_image_tokens", theirs?.imageInputPer1MTokens],
      ["output_reasoning_tokens", theirs?.reasoningPer1MTokens],
    ] as const) {
      if (listed === undefined) continue;
      const ours = priceFromCatalogue({
        provider: providers[provider] ?? "",
        model: modelId,
        unitType,
        quantity: parseDecimal(100),
        occurredAt: instant,
      });
      if (ours.status === "unpriced" || ours.price.unit === unitType) continue;
      if (isSame(Number(toText(ours.amount)), listed / 1e4)) agreements++;
      else disagreements.push(`${provider}/${modelId}`);
    }
  }
  expect(agreements).toBeGreaterThanOrEqual(20);
  // Models whose plain input or output already differs, by the baseline.
  const known = Object.keys(Object.assign({}, ...explainedDifferences.map((group) => group.differences)));
  expect(disagreements.filter((name) => !known.some((key) => key.startsWith(`${name} `)))).toEqual([]);
});

describe("The catalogue's own calculator", () => {
  test("Agrees with ours on every model, for every line of both requests", async () => {
    const disagreements: string[] = [];
    let models = 0;
    for (const provider of (await waitForUpdate()) ?? []) {
      for (const { id } of provider.models) {
        models++;
        for (const request of Object.values(requests)) {
          const options = { providerId: provider.id, timestamp: instant };
          const usage = {
            input_tokens: inputOf(request),
            cache_read_tokens: request.cacheRead,
            cache_write_tokens: request.cacheWrite,
            output_tokens: request.output,
          };
          const priced = (Object.keys(parts) as Part[]).map((part) =>
            priceOurs(provider.id, id, request, part),
          );
          // Without a cache price, the calculator bills cached tokens as input and the service does not, so such requests are not compared.
          if (priced.includes(undefined)) continue;
          const ours = priced.reduce<number>((total, amount) => total + (amount ?? 0), 0);
          if (!isOfOneEntry(provider.id, id)) continue;
          const prices = calcPrice(usage, id, options);
          const perRequest = calcPrice({}, id, options)?.total_price ?? 0;
          const theirs = (prices?.total_price ?? Number.NaN) - perRequest;
          if (!isSame(ours, theirs)) disagreements.push(`${provider.id}/${id}: ${ours} / ${theirs}`);
        }
      }
    }
    expect(models).toBeGreaterThanOrEqual(1000);
    expect(disagreements).toEqual([]);
  });

  test("Agrees with ours on input and output without a cache price", async () => {
    const disagreements: string[] = [];
    let priced = 0;
    for (const provider of (await waitForUpdate()) ?? []) {
      for (const { id } of provider.models) {
        for (const [unit, tokens] of [
          ["input_tokens", 12_345],
          ["output_tokens", 6_789],
        ] as const) {
          const options = { providerId: provider.id, timestamp: instant };
          const ours = priceFromCatalogue({
            provider: provider.id,
            model: id,
            unitType: unit,
            quantity: parseDecimal(tokens),
            occurredAt: instant,
          });
          const match = calcPrice({}, id, options);
          // Some ids are found only by their longer names, and prices from corrections or the second catalogue differ on purpose.
          if (!match || (ours.status === "priced" && ours.price.version !== catalogueVersion)) continue;
          const perRequest = match.total_price;
          const theirs =
            (calcPrice({ [unit]: tokens, ...(unit === "output_tokens" && { input_tokens: 0 }) }, id, options)
              ?.total_price ?? 0) - perRequest;
          if (ours.status === "priced") priced++;
          const amount = ours.status === "priced" ? Number(toText(ours.amount)) : 0;
          if (Math.abs(amount - theirs) > 1e-12)
            disagreements.push(`${provider.id}/${id} ${unit}: ${amount} / ${theirs}`);
        }
      }
    }
    expect(priced).toBeGreaterThanOrEqual(2000);
    expect(disagreements).toEqual([]);
  });
});
