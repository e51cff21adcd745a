import { type Decimal, parseDecimal, roundMoney, sum, toText, zero } from "@/lib/decimal";
import { catalogueRate } from "./catalogue";
import { type Price, priceLine, type Rate, type UnpricedReason, type UsageLine } from "./price-line";
import type { ServiceTier } from "./price-table";
import { findUnit, unitName } from "./units";

/**
 * A workspace's own price. `model` null: every model of the provider. `rate`: decimal text, USD for one `unitType`, 0 or
 * more. It applies to usage from `startsAt` on, until the start of a later one.
 */
export type PriceOverride = {
  id: string;
  provider: string;
  model: string | null;
  unitType: string;
  rate: string;
  startsAt: Date;
};

/**
 * A usage to price; quantities are exact decimals, `quantity` > 0.
 * - `estimatedCost`: the cost in USD by the client's own account; it has precedence over every price.
 * - `cachedQuantity`: the part of `quantity` that came from the cache (as OpenAI counts).
 * - `inputQuantity`: all input tokens of the same request, for models whose price depends on them; see `callInputTokens`.
 * - `serviceTier`: how the provider served the request; a workspace's own price applies to every tier.
 * - `overrides`: the workspace's prices. They are indexed once per array: pass the same array again, and never change it.
 */
export type Usage = {
  provider: string;
  model?: string | null | undefined;
  unitType: string;
  quantity: Decimal;
  cachedQuantity?: Decimal | undefined;
  inputQuantity?: Decimal | undefined;
  serviceTier?: ServiceTier | undefined;
  occurredAt: Date;
  estimatedCost?: Decimal | undefined;
  overrides?: readonly PriceOverride[] | undefined;
};

/** The cost of a usage in USD, rounded half-even to 18 decimals. An unpriced usage has the amount 0 and the reason. */
export type PricedAmount =
  | { costStatus: "client"; amount: Decimal; price: null }
  | { costStatus: "priced"; amount: Decimal; price: Price }
  | { costStatus: "unpriced"; amount: Decimal; price: null; reason: UnpricedReason };

/**
 * Prices a usage: by the client's own cost, otherwise by the workspace's price, otherwise by the catalogue's.
 *
 * The cached part is priced separately in the same order, under the unit `cache_read_tokens`: a workspace that overrides
 * only the input price keeps the catalogue's cache price.
 * @throws DecimalError if an override's rate is not a decimal; nothing else throws
 */
export function priceUsage(usage: Usage): PricedAmount {
  if (usage.estimatedCost !== undefined) {
    return { costStatus: "client", amount: roundMoney(usage.estimatedCost), price: null };
  }
  const { overrides = [] } = usage;
  const priced = priceLine(
    usage,
    (unitType) => overrideRate(usage, overrides, unitType) ?? catalogueRate(usage, unitType),
  );
  if (priced.status === "priced") return { costStatus: "priced", amount: priced.amount, price: priced.price };
  return { costStatus: "unpriced", amount: zero, price: null, reason: priced.reason };
}

/**
 * All input tokens of one call, from the lines of its message: fresh tokens, and tokens read from and written to a cache. Every line of
 * the call, output lines too, has this sum as its `inputQuantity`.
 * @param lines each kind of token once; a cached part that `quantity` includes is not counted again
 */
export function callInputTokens(lines: readonly Pick<UsageLine, "unitType" | "quantity">[]): Decimal {
  return sum(
    lines.filter(({ unitType }) => findUnit(unitType)?.countsAsInput).map(({ quantity }) => quantity),
  );
}

const fold = (text: string) => text.trim().toLowerCase();

type Candidate = { model: string | null; startsAtMs: number; rate: Rate };

/** Overrides by provider and unit, in order of precedence. Freed together with the caller's array. */
const indexes = new WeakMap<readonly PriceOverride[], Map<string, Candidate[]>>();

/**
 * The workspace's price that applies: one for the model before one for all models, then the latest `startsAt` that is not
 * after the usage. Names are compared without case, units by their meaning, so that a price for `prompt_tokens` applies to
 * `input_tokens`.
 */
function overrideRate(usage: Usage, overrides: readonly PriceOverride[], unitType: string): Rate | undefined {
  if (overrides.length === 0) return undefined;
  const model = fold(usage.model ?? "");
  const atMs = usage.occurredAt.getTime();
  const candidates = indexOf(overrides).get(`${fold(usage.provider)}\n${unitName(unitType)}`);
  return candidates?.find(
    (candidate) => candidate.startsAtMs <= atMs && (candidate.model === null || candidate.model === model),
  )?.rate;
}

function indexOf(overrides: readonly PriceOverride[]): Map<string, Candidate[]> {
  const known = indexes.get(overrides);
  if (known) return known;
  const index = new Map<string, Candidate[]>();
  for (const override of [...overrides].sort(byPreference)) {
    const key = `${fold(override.provider)}\n${unitName(override.unitType)}`;
    const candidates = index.get(key) ?? [];
    candidates.push({
      model: override.model && fold(override.model),
      startsAtMs: override.startsAt.getTime(),
      rate: rateOf(override),
    });
    index.set(key, candidates);
  }
  indexes.set(overrides, index);
  return index;
}

function byPreference(a: PriceOverride, b: PriceOverride): number {
  if ((a.model === null) !== (b.model === null)) return a.model === null ? 1 : -1;
  // Of two prices with the same start, the id decides, so that repricing always gives the same result.
  return b.startsAt.getTime() - a.startsAt.getTime() || (a.id < b.id ? 1 : -1);
}

function rateOf({ id, provider, model, unitType, rate }: PriceOverride): Rate {
  const unit = unitName(unitType);
  const perUnit = parseDecimal(rate);
  const price: Price = {
    rate: toText(perUnit),
    per: 1,
    unit,
    source: "override",
    version: id,
    provider,
    model,
  };
  return { price, perUnit };
}
