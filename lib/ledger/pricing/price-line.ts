import {
  add,
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  roundMoney,
  subtract,
  toText,
} from "@/lib/decimal";
import type { ServiceTier } from "./price-table";
import { findUnit } from "./units";

/**
 * The price that was applied to a line, stored with the message. The amount can be computed again from it.
 * - `rate`: USD for `per` units, exact decimal text. `per` is 1 except for audio time, whose prices are per hour and cannot
 *   be divided exactly into seconds (3600) or minutes (60).
 * - `unit`: the unit of the price. It may be broader than the message's: reasoning is billed as output.
 * - `version`: the catalogue's version, or the id of the workspace's own price.
 * - `provider`, `model`: the entry of the catalogue, or those of the workspace's price (null: any model).
 * - `tier`: the price applies to requests with more input tokens than this, or of this service tier.
 * - `minimum`: the least USD that the provider bills; present if it determined the amount.
 * - `cached`: the price of the cached part, and the quantity of that part.
 */
export type Price = Readonly<{
  rate: string;
  per: number;
  unit: string;
  source: "catalogue" | "override";
  version: string;
  provider: string;
  model: string | null;
  tier?: { aboveInputTokens?: number; service?: Exclude<ServiceTier, "standard"> };
  minimum?: string;
  cached?: Price & { quantity: string };
}>;

/** Why a line has no price. None of the reasons is an error. */
export type UnpricedReason =
  | "unknown_provider"
  | "unknown_model"
  | "unknown_unit"
  | "no_rate"
  | "invalid_cached_quantity";

/** A price with its rate parsed: `perUnit` is `price.rate` as a decimal. */
export type Rate = { price: Price; perUnit: Decimal; minimum?: Decimal };

/**
 * `cachedQuantity` is the part of an input line that came from the provider's cache and is *included in* `quantity` (as
 * OpenAI counts). If cache tokens are counted in addition to the input (as Anthropic counts), they are a line of their own with the unit
 * `cache_read_tokens`, and `cachedQuantity` is undefined.
 */
export type UsageLine = { unitType: string; quantity: Decimal; cachedQuantity?: Decimal | undefined };

export type PricedLine =
  | { status: "priced"; amount: Decimal; price: Price }
  | { status: "unpriced"; reason: UnpricedReason };

const unpriced = (reason: UnpricedReason): PricedLine => ({ status: "unpriced", reason });

/**
 * quantity × rate in USD, at least the minimum: exact, or rounded half-even to 18 decimals if the rate is not for one unit.
 */
function applyRate(quantity: Decimal, { price, perUnit, minimum }: Rate): { amount: Decimal; price: Price } {
  const product = multiply(quantity, perUnit);
  const amount = price.per === 1 ? product : divideMoney(product, parseDecimal(price.per));
  if (minimum === undefined || compare(amount, minimum) >= 0) return { amount, price };
  return { amount: minimum, price: { ...price, minimum: toText(minimum) } };
}

/**
 * Prices one line, its cached part at the cache price and the rest at the line's own, rounded half-even to 18 decimals. A
 * line for which one rate is missing is unpriced as a whole.
 * @param rateOf finds the rate of a unit as the client spells it
 */
export function priceLine(line: UsageLine, rateOf: (unitType: string) => Rate | UnpricedReason): PricedLine {
  const rate = rateOf(line.unitType);
  if (typeof rate === "string") return unpriced(rate);
  if (line.cachedQuantity === undefined || isZero(line.cachedQuantity)) {
    const { amount, price } = applyRate(line.quantity, rate);
    return { status: "priced", amount: roundMoney(amount), price };
  }
  const cachedUnit = findUnit(line.unitType)?.cachedAs;
  if (cachedUnit === undefined || cachedQuantityIssue(line) !== undefined)
    return unpriced("invalid_cached_quantity");
  const cachedRate = rateOf(cachedUnit);
  if (typeof cachedRate === "string") return unpriced(cachedRate);
  const fresh = applyRate(subtract(line.quantity, line.cachedQuantity), rate);
  const cached = applyRate(line.cachedQuantity, cachedRate);
  return {
    status: "priced",
    amount: roundMoney(add(fresh.amount, cached.amount)),
    price: { ...fresh.price, cached: { ...cached.price, quantity: toText(line.cachedQuantity) } },
  };
}

/**
 * Checks a line's cached quantity. One that is larger than the whole quantity was counted in Anthropic's way and sent in OpenAI's field.
 * Its price would be a guess, so the line is unpriced.
 * @returns the problem as a sentence for the caller, or undefined
 */
export function cachedQuantityIssue(line: UsageLine): string | undefined {
  const { cachedQuantity, quantity, unitType } = line;
  if (cachedQuantity === undefined || isZero(cachedQuantity)) return undefined;
  if (findUnit(unitType)?.cachedAs === undefined)
    return `a cached quantity is only possible for input tokens, not for ${unitType}`;
  if (toText(cachedQuantity).startsWith("-")) return "the cached quantity must not be negative";
  if (compare(cachedQuantity, quantity) > 0)
    return "the cached quantity is part of the quantity and must not exceed it; cache tokens that are counted beside the input are a message of their own with unit_type cache_read_tokens";
  return undefined;
}
