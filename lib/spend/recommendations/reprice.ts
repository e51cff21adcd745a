import { add, type Decimal, multiply, parseDecimal, subtract } from "@/lib/decimal";
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
  if (!group.is_linear || group.rate === null) return recorded;
  const cachedAs = findUnit(group.unit_type)?.cachedAs;
  const [now, then] = [ratesOf(group, {}, cachedAs, at), ratesOf(group, target, cachedAs, at)];
  if (!now || !then || now.own.price.rate !== group.rate) return recorded;
  if (group.cached_rate !== null && now.cached?.price.rate !== group.cached_rate) return recorded;
  const cached = parseDecimal(group.cached);
  const fresh = subtract(parseDecimal(group.quantity), cached);
  const amount = multiply(fresh, then.own.perUnit);
  if (group.cached_rate === null) return amount;
  return then.cached ? add(amount, multiply(cached, then.cached.perUnit)) : recorded;
}

/** The rates of a group, if they are the same for all its requests and for one unit each. */
function ratesOf(
  group: UsageGroup,
  target: Partial<{ tier: ServiceTier; model: string }>,
  cachedAs: string | undefined,
  at: Date,
): { own: Rate; cached: Rate | undefined } | undefined {
  const lineAt = (input: string | null): CatalogueLine => ({
    provider: group.provider,
    model: target.model ?? group.model,
    unitType: group.unit_type,
    quantity: parseDecimal(group.quantity),
    occurredAt: at,
    inputQuantity: input === null ? undefined : parseDecimal(input),
    serviceTier: target.tier ?? group.tier,
  });
  const rateFor = (unit: string | undefined): Rate | undefined => {
    if (unit === undefined) return undefined;
    const [least, most] = [group.least_input, group.most_input].map((input) =>
      catalogueRate(lineAt(input), unit),
    );
    if (typeof least !== "object" || typeof most !== "object") return undefined;
    const isOne = least.price.rate === most.price.rate && least.price.per === 1 && !least.minimum;
    return isOne ? least : undefined;
  };
  const own = rateFor(group.unit_type);
  return own && { own, cached: rateFor(cachedAs) };
}
