import type { RecommendationKind } from "@/lib/contract/spend/recommendations";

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
    case "unused_seats":
      return {
        title: `Give back ${records === 1 ? "1 seat" : `${count} seats`} of ${provider}`,
        method: `Seats that nobody used for 30 days by the provider's own count, times the price of a seat for a month.`,
      };
  }
}
