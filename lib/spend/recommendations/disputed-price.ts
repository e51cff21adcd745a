import { absolute, compare, type Decimal } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { lowerAsPostgres } from "@/lib/keys/blocking-budgets";
import type { Dispute, Offer } from "@/lib/ledger/pricing/disputes";
import { type Measured, measureGroups, savingOf } from "./find";
import { steadyRate, swapRates } from "./reprice";
import type { UsageGroup } from "./usage-queries";

/** The prices of a unit in two catalogues, USD for one as exact text: that in use, and the other. `source`: without the version. */
export type DisputedRate = {
  unit_type: string;
  applied: { source: string; rate: string };
  other: { source: string; rate: string };
};

/**
 * Which of two prices of a model is right. Other prices are another question, the same ones in a later version of a catalogue are not.
 * - `provider`: in lower case. `tier`: of the usage that is compared, because the catalogues are compared in that one.
 * - `target`: the catalogue whose prices are not in use.
 */
export type DisputedPrice = {
  kind: "disputed_price";
  provider: string;
  model: string;
  tier: "standard";
  target: string;
  prices: DisputedRate[];
};

/** Groups the disputes by model. Spellings of a provider that differ in letter case are one provider. */
export function joinDisputes(
  disputes: readonly (Dispute & { provider: string; model: string })[],
): DisputedPrice[] {
  const keyOf = ({ provider, model }: { provider: string; model: string }) =>
    JSON.stringify([lowerAsPostgres(provider), model]);
  return [...groupBy(disputes, keyOf).values()].flatMap((ofModel) => {
    const [first] = ofModel;
    if (!first) return [];
    const own = ofModel.filter(({ provider }) => provider === first.provider);
    return {
      ...{ kind: "disputed_price", provider: lowerAsPostgres(first.provider), model: first.model },
      ...{ tier: "standard", target: nameOf(first.other) },
      prices: own.map(({ unitType, applied, other }) => ({
        unit_type: unitType,
        applied: { source: nameOf(applied), rate: applied.rate },
        other: { source: nameOf(other), rate: other.rate },
      })),
    };
  });
}

/** The name of an offer's catalogue: `genai-prices of 2026-11-28` and `genai-prices 0.1.8` are the same one. */
const nameOf = ({ source }: Offer) => source.replace(/ (of )?[\d.-]+$/, "");

/** The disputes whose prices are at least an amount apart for what was recorded. @param groups of the models' usage */
export function measureDisputes(
  disputes: readonly DisputedPrice[],
  groups: readonly UsageGroup[],
  least: Decimal,
): (DisputedPrice & Measured)[] {
  return disputes
    .map((dispute) => {
      const own = ofModel(groups, dispute).filter(({ tier }) => tier === dispute.tier);
      return { ...dispute, ...measureGroups(own, (group) => priceAtOther(group, dispute)) };
    })
    .filter((found) => compare(absolute(savingOf(found)), least) >= 0);
}

/** The usage of a disputed model. */
export const ofModel = (groups: readonly UsageGroup[], { provider, model }: DisputedPrice): UsageGroup[] =>
  groups.filter((group) => group.provider === provider && group.model === model);

/** What a group would have cost at the other prices, USD. What was recorded at any but those in use keeps its amount. */
function priceAtOther(group: UsageGroup, { prices }: DisputedPrice): Decimal {
  return swapRates(
    group,
    (unit, rate) =>
      prices.find(({ unit_type, applied }) => unit_type === unit && applied.rate === rate)?.other.rate,
  );
}

/** What a group would have cost at the catalogue's present prices, USD, if it was recorded at the prices that settled a dispute. */
export function priceUnsettled(group: UsageGroup, { prices }: DisputedPrice, at: Date): Decimal {
  return swapRates(group, (unit, rate) =>
    prices.some(({ unit_type, other }) => unit_type === unit && other.rate === rate)
      ? steadyRate(group, unit, at)?.price.rate
      : undefined,
  );
}
