import { catalogueRate } from "./catalogue";
import { type Decimal, parseDecimal, roundMoney, toText, zero } from "./decimal";
import { type Price, priceLine, type Rate, type UnpricedReason } from "./price-line";
import { unitName } from "./units";

/**
 * A workspace's own price. `model` null holds for every model of the provider. `rate` is decimal text, USD for one
 * `unitType`, 0 or more. It applies to what occurs from `startsAt` on, until a later one takes over.
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
 * One usage to price; quantities are exact decimals, `quantity` > 0.
 * - `estimatedCost`: the client's own figure in USD; it beats every price.
 * - `cachedQuantity`: the part of `quantity` that came from the cache (OpenAI's counting).
 * - `inputQuantity`: all input tokens of the same request, for models whose price depends on them.
 * - `overrides`: the workspace's prices. The list is indexed at its first use: pass the same one again, and never change it.
 */
export type Usage = {
  provider: string;
  model?: string | null | undefined;
  unitType: string;
  quantity: Decimal;
  cachedQuantity?: Decimal | undefined;
  inputQuantity?: Decimal | undefined;
  occurredAt: Date;
  estimatedCost?: Decimal | undefined;
  overrides?: readonly PriceOverride[] | undefined;
};

/** What a usage costs in USD, rounded half-even to 18 decimals. Unpriced is 0 *and says so*, with the reason. */
export type PricedAmount =
  | { costStatus: "client"; amount: Decimal; price: null }
  | { costStatus: "priced"; amount: Decimal; price: Price }
  | { costStatus: "unpriced"; amount: Decimal; price: null; reason: UnpricedReason };

/**
 * Prices a usage: the client's own figure, else the workspace's price, else the catalogue's, else unpriced.
 *
 * A cached part goes the same way by itself, under the unit `cache_read_tokens`: a workspace that overrides only the input
 * price keeps the catalogue's cache price.
 * @throws DecimalError when an override's rate is no decimal; nothing else throws.
 */
export function priceUsage(usage: Usage): PricedAmount {
  if (usage.estimatedCost !== undefined) {
    return { costStatus: "client", amount: roundMoney(usage.estimatedCost), price: null };
  }
  const { cachedQuantity, inputQuantity, overrides = [], ...rest } = usage;
  const line = {
    ...rest,
    ...(cachedQuantity && { cachedQuantity }),
    ...(inputQuantity && { inputQuantity }),
  };
  const priced = priceLine(
    line,
    (unitType) => overrideRate(usage, overrides, unitType) ?? catalogueRate(line, unitType),
  );
  if (priced.status === "priced") return { costStatus: "priced", amount: priced.amount, price: priced.price };
  return { costStatus: "unpriced", amount: zero, price: null, reason: priced.reason };
}

const fold = (text: string) => text.trim().toLowerCase();

type Candidate = { model: string | null; startsAtMs: number; rate: Rate };

/** Overrides by provider and unit, the preferred ones first; kept for as long as the caller keeps its list. */
const indexes = new WeakMap<readonly PriceOverride[], Map<string, Candidate[]>>();

/**
 * The workspace's price that holds: one for this very model before one for any model, then the latest `startsAt` that is not
 * after the usage. Names are compared without case; units by their meaning, so that a price for `prompt_tokens` holds for
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
  // Two prices of the same instant: the id decides, so that repricing gives the same answer every time.
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
