import type { RecommendationKind } from "@/lib/contract/spend/recommendations";
import type { CacheCounts } from "./find";

type Described = {
  kind: RecommendationKind;
  provider: string;
  model: string | null;
  feature: string | null;
  /** The tier of the usage; null for all. */
  tier: string | null;
  target: string | null;
  projectName: string | null;
  records: number;
  counts: CacheCounts | null;
};

const counts = new Intl.NumberFormat("en-US");

const notCompared =
  "Usage at a price of your own, or at one that is not today's list price, keeps its recorded amount.";

/** What a recommendation changes, and how its amount was computed, each in one or two sentences. */
export function describeRecommendation(described: Described): { title: string; method: string } {
  const { kind, model, feature, tier, target, projectName, provider, records } = described;
  const within = projectName === null ? "" : ` in ${projectName}`;
  const usage = feature === null ? `usage of ${model} without a feature` : `${feature} with ${model}`;
  const where = usage + within;
  const count = counts.format(records);
  const are = records === 1 ? "1 record" : `${count} records`;
  switch (kind) {
    case "batch_tier":
      return {
        title: `Use the ${target} tier for ${where}`,
        method: `If ${records === 1 ? "this record" : `these ${count} records`} may wait${target === "batch" ? " up to 24 hours" : ""}: the recorded amounts at the standard tier, less the same quantities at today's list prices of the ${target} tier. Only records that name neither a session nor a person count, because somebody may wait for the others. ${notCompared}`,
      };
    case "smaller_model":
      return {
        title: `Use ${target} instead of ${model} for ${feature ?? "usage without a feature"}${within}`,
        method: `The recorded amounts of ${are}, less the same quantities at today's list prices of ${target}. It says nothing about the quality of its answers, and assumes that it needs as many tokens. ${notCompared}`,
      };
    case "standard_tier":
      return {
        title: `Use the standard tier for ${where}`,
        method: `The recorded amounts of ${are} at the ${tier} tier, less the same quantities at today's list prices of the standard tier. It assumes that they need not be served faster. ${notCompared}`,
      };
    case "prompt_caching":
      return {
        title: `Use prompt caching for ${where}`,
        method: described.counts ? describeCaching(described.counts, target) : "",
      };
    case "disputed_price":
      return {
        title: `Settle the price of ${model} of ${provider}`,
        method: `The recorded amounts of ${are} at the standard tier, less the same with each quantity that was recorded at the price in use at that of ${target} instead. A quantity at any other price keeps its recorded amount. To accept sets the prices of ${target} as your own from the first day of this month (UTC) on: for every tier and length of request, and for what was recorded since then.`,
      };
    case "unused_seats":
      return {
        title: `Give back ${records === 1 ? "1 seat" : `${count} seats`} of ${provider}`,
        method: `Seats that nobody used for 30 days by the provider's own count, times the price of a seat for a month.`,
      };
  }
}

/** How the amount of prompt caching was computed. @param target how long the provider keeps what is written, or `automatic` */
function describeCaching({ tokens, calls, writes }: CacheCounts, target: string | null): string {
  const [first, all, written] = [tokens, calls, writes].map((count) => counts.format(count));
  const isAutomatic = target === "automatic";
  const span = target === "1h" ? "hour" : "span of 5 minutes";
  const one = isAutomatic
    ? `one pays the full price for them (${written} of the calls)`
    : `one pays for them at the price of a cache write (${written} of the calls)`;
  const early =
    "Providers that charge nothing for cache writes often cache by themselves: that this input was not cached can mean that the prompts differ early. Then it is saved only once the part that repeats comes first.";
  return [
    `If the first ${first} tokens of these ${all} calls are the same: in each ${span} with calls, ${one}, and the others pay that of cached input, by today's list prices.`,
    `What the prompts have in common is not recorded; ${first} tokens is the most that all can share, by the smallest input of any of them.`,
    ...(isAutomatic ? [early] : []),
    "Calls that begin before the first of a span was answered cannot read what it writes.",
    "Only calls with a long prompt count that were recorded with all their input tokens and without any from a cache.",
    notCompared,
  ].join(" ");
}
