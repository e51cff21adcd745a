import { add, type Decimal, multiply, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import { type CatalogueLine, catalogueRate } from "@/lib/ledger/pricing/catalogue";
import type { Rate } from "@/lib/ledger/pricing/price-line";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { findUnit } from "@/lib/ledger/pricing/units";
import type { UsageGroup } from "./usage-queries";

/** How usage would be served instead: another tier, or another model of the same provider. */
export type Target = { tier: ServiceTier } | { model: string };

/**
 * What a group of usage would have cost with a target at the catalogue's present prices, USD, exactly: the sum of what each of its
 * postings would have cost. What cannot be compared keeps its recorded amount, so that it adds nothing to a saving: usage at a
 * workspace's own price or at one that is not the catalogue's any more, and usage without a price at the target.
 */
export function repriceGroup(group: UsageGroup, target: Target, at: Date): Decimal {
  const recorded = parseDecimal(group.amount_usd);
  const now = presentRates(group, at);
  const own = steadyRate(group, group.unit_type, at, target);
  if (!now || !own) return recorded;
  const cached = parseDecimal(group.cached);
  const amount = multiply(subtract(parseDecimal(group.quantity), cached), own.perUnit);
  if (!now.cached) return amount;
  const cachedRate = steadyRate(group, now.cached.unit, at, target);
  return cachedRate ? add(amount, multiply(cached, cachedRate.perUnit)) : recorded;
}

/** Units of text that was read from a cache or written to it, and counted beside the input. */
const cacheUnit = /^cache_(read|write)(_\d+[mh])?_tokens$/;

/** Like `repriceGroup`, as if nothing had been read from a cache or written to it: all of it at the price of input. */
export function repriceUncached(group: UsageGroup, at: Date): Decimal {
  const recorded = parseDecimal(group.amount_usd);
  const now = presentRates(group, at);
  if (!now) return recorded;
  const isBeside = cacheUnit.test(findUnit(group.unit_type)?.unit ?? "");
  const input = isBeside ? steadyRate(group, "input_tokens", at) : now.cached && now.own;
  return input ? multiply(parseDecimal(group.quantity), input.perUnit) : recorded;
}

/**
 * What a group would have cost, USD, exactly, if some of the rates that it was recorded at had been others.
 * @param other the rate in place of one of a unit, USD for one as exact text; undefined keeps it
 */
export function swapRates(
  group: UsageGroup,
  other: (unit: string, rate: string) => string | undefined,
): Decimal {
  const recorded = parseDecimal(group.amount_usd);
  const unit = group.is_linear ? findUnit(group.unit_type) : undefined;
  if (!unit) return recorded;
  const change = (quantity: Decimal, name: string | undefined, rate: string | null) => {
    if (name === undefined || rate === null) return zero;
    const swapped = other(name, rate) ?? rate;
    return multiply(quantity, subtract(parseDecimal(swapped), parseDecimal(rate)));
  };
  const cached = parseDecimal(group.cached);
  const fresh = subtract(parseDecimal(group.quantity), cached);
  return sum([
    recorded,
    change(fresh, unit.unit, group.rate),
    change(cached, unit.cachedAs, group.cached_rate),
  ]);
}

/**
 * The rate that a group was recorded at, if it and that of the cached part are the catalogue's present ones.
 * @returns `cached`: the unit of the cached part, if there is one
 */
function presentRates(group: UsageGroup, at: Date): { own: Rate; cached?: { unit: string } } | undefined {
  if (!group.is_linear || !group.is_listed || group.rate === null) return undefined;
  const own = steadyRate(group, group.unit_type, at);
  if (own?.price.rate !== group.rate) return undefined;
  if (group.cached_rate === null) return { own };
  const unit = findUnit(group.unit_type)?.cachedAs;
  if (unit === undefined || steadyRate(group, unit, at)?.price.rate !== group.cached_rate) return undefined;
  return { own, cached: { unit } };
}

/**
 * The catalogue's rate of a unit, if it is the same for all requests of a group and for one unit each.
 * @param group by the fewest and the most input tokens of its requests. @param target another tier or model than the group's
 */
export function steadyRate(
  group: Pick<UsageGroup, "provider" | "model" | "tier" | "least_input" | "most_input">,
  unitType: string,
  at: Date,
  target: Partial<{ tier: ServiceTier; model: string }> = {},
): Rate | undefined {
  const [least, most] = [group.least_input, group.most_input].map((input) => {
    const line: CatalogueLine = {
      provider: group.provider,
      model: target.model ?? group.model,
      unitType,
      quantity: one,
      occurredAt: at,
      inputQuantity: input === null ? undefined : parseDecimal(input),
      serviceTier: target.tier ?? group.tier,
    };
    return catalogueRate(line, unitType);
  });
  if (typeof least !== "object" || typeof most !== "object") return undefined;
  const isSteady = least.price.rate === most.price.rate && least.price.per === 1 && !least.minimum;
  return isSteady ? least : undefined;
}

const one = parseDecimal(1);
