import type { RecommendationKind } from "@/lib/contract/spend/recommendations";
import { add, compare, type Decimal, divideMoney, parseDecimal, subtract, sum, toText } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { catalogueRate } from "@/lib/ledger/pricing/catalogue";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import { repriceGroup, type Target } from "./reprice";
import { smallerModels } from "./smaller-models";
import type { UsageGroup, UsageSubject } from "./usage-queries";

/** What decides which usage a recommendation is about, and what it would be changed to. */
export type UsageChange = UsageSubject & {
  kind: Exclude<RecommendationKind, "unused_seats" | "disputed_price">;
  /** The tier of the usage; null for all. */
  tier: ServiceTier | null;
  /** The tier or the model to change to, or how prompts would be cached. */
  target: string;
};

/** What prompt caching is computed from: the tokens that the calls can have in common, the calls, and how many of them write. */
export type CacheCounts = { tokens: number; calls: number; writes: number };

/** What the usage of a change cost, and would have cost, USD. `shown_provider`: as it was recorded. */
export type Measured = { shown_provider: string; recorded: Decimal; repriced: Decimal; records: number };

/** A change with what it would have saved. */
export type FoundChange = UsageChange & Measured & { counts?: CacheCounts };

/** Savings below one dollar, or below this share of what the workspace spent, are not worth a change. */
const leastSaving = parseDecimal(1);
const leastShare = parseDecimal(100);

/** The least saving that is recommended, USD. @param spend of the workspace in the same days */
export function leastWorth(spend: Decimal): Decimal {
  const share = divideMoney(spend, leastShare);
  return compare(share, leastSaving) > 0 ? share : leastSaving;
}

/** The faster tiers, whose prices are above the standard ones. */
const fasterTiers: readonly ServiceTier[] = ["priority", "fast", "ultrafast"];
const waitingTiers: readonly ServiceTier[] = ["batch", "flex"];

/** Whether a group is part of the usage that a change is about. */
function isOf(group: UsageGroup, { kind, tier }: Pick<UsageChange, "kind" | "tier">): boolean {
  return (tier === null || group.tier === tier) && (kind !== "batch_tier" || group.is_unattended);
}

export const targetOf = ({ kind, target }: Pick<UsageChange, "kind" | "target">): Target =>
  kind === "smaller_model" ? { model: target } : { tier: target as ServiceTier };

/**
 * Finds the changes that would have saved at least an amount: for each subject and kind the one that saves most.
 * @param groups of whole subjects. @param at the time whose prices apply
 */
export function findChanges(groups: readonly UsageGroup[], least: Decimal, at: Date): FoundChange[] {
  return groupBySubject(groups)
    .flatMap((own) => {
      const [first] = own;
      if (!first) return [];
      const { project_id, provider, model, feature } = first;
      const subject = { project_id, provider, model, feature };
      const candidates: UsageChange[][] = [
        waitingTiers.map((target) => ({ ...subject, kind: "batch_tier", tier: "standard", target })),
        ...fasterTiers.map((tier): UsageChange[] => [
          { ...subject, kind: "standard_tier", tier, target: "standard" },
        ]),
        listedModels(first, at).map((target) => ({ ...subject, kind: "smaller_model", tier: null, target })),
      ];
      return candidates.flatMap((among) => {
        const [best] = among
          .map((change) => measure(change, own, at))
          .filter((found) => compare(savingOf(found), least) >= 0)
          .sort((a, b) => compare(savingOf(b), savingOf(a)));
        return best ?? [];
      });
    })
    .sort((a, b) => compare(savingOf(b), savingOf(a)));
}

/** Groups of usage by what they are about. */
export function groupBySubject(groups: readonly UsageGroup[]): UsageGroup[][] {
  return [...groupBy(groups, subjectKey).values()];
}

export const savingOf = ({ recorded, repriced }: Pick<Measured, "recorded" | "repriced">) =>
  subtract(recorded, repriced);

/** What the usage of a change cost, and would have cost. @param groups of its subject */
function measure(change: UsageChange, groups: readonly UsageGroup[], at: Date): FoundChange {
  const own = groups.filter((group) => isOf(group, change));
  return { ...change, ...measureGroups(own, (group) => repriceGroup(group, targetOf(change), at)) };
}

/** What groups cost, and would have cost. @param reprice what one of them would have cost */
export function measureGroups(
  groups: readonly UsageGroup[],
  reprice: (group: UsageGroup) => Decimal,
): Measured {
  return {
    shown_provider: groups.map((group) => group.shown_provider).sort()[0] ?? "",
    recorded: sum(groups.map(({ amount_usd }) => parseDecimal(amount_usd))),
    repriced: sum(groups.map(reprice)),
    records: groups.reduce((count, { records }) => count + Number(records), 0),
  };
}

/** The smallest step down in a model's family that the catalogue lists. */
function listedModels({ provider, model }: UsageSubject, at: Date): string[] {
  const listed = smallerModels(model).find((name) => {
    const line = { provider, model: name, unitType: "input_tokens", quantity: leastSaving, occurredAt: at };
    const rate = catalogueRate(line, "input_tokens");
    // A pattern of the catalogue could have found a larger model by this name.
    return typeof rate === "object" && rate.price.model?.includes(name.replace(/[-@]\d{8}$/, "")) === true;
  });
  return listed === undefined ? [] : [listed];
}

export const subjectKey = ({ project_id, provider, model, feature }: UsageSubject): string =>
  JSON.stringify([project_id, provider, model, feature]);

/** Joins rows that are equal in some of their fields. @param keyOf these fields */
export function joinEqual<T>(
  rows: readonly T[],
  keyOf: (row: T) => object,
  join: (one: T, other: T) => T,
): T[] {
  return [...groupBy(rows, (row) => JSON.stringify(keyOf(row))).values()].map((equal) => equal.reduce(join));
}

/** Joins groups of several days. */
export const mergeGroups = (groups: readonly UsageGroup[]): UsageGroup[] =>
  joinEqual(groups, keyOfGroup, joinGroups);

/** What groups that differ only in sums have in common. */
function keyOfGroup(group: UsageGroup): object {
  const { shown_provider: _, least_input, most_input, quantity, cached, amount_usd, records, ...key } = group;
  return key;
}

function joinGroups(one: UsageGroup, other: UsageGroup): UsageGroup {
  const total = (a: string, b: string) => toText(add(parseDecimal(a), parseDecimal(b)));
  const pick = (a: string | null, b: string | null, isWanted: (order: number) => boolean) =>
    a !== null && (b === null || isWanted(compare(parseDecimal(a), parseDecimal(b)))) ? a : b;
  return {
    ...one,
    shown_provider: [one.shown_provider, other.shown_provider].sort()[0] ?? one.shown_provider,
    least_input: pick(one.least_input, other.least_input, (order) => order < 0),
    most_input: pick(one.most_input, other.most_input, (order) => order > 0),
    quantity: total(one.quantity, other.quantity),
    cached: total(one.cached, other.cached),
    amount_usd: total(one.amount_usd, other.amount_usd),
    records: String(BigInt(one.records) + BigInt(other.records)),
  };
}
