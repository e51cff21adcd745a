import type { RecommendationList } from "@/lib/contract/spend/recommendations";
import { usd } from "./wording";

/** The most recommendations that a text names. */
const maxNamed = 20;

/** Recommendations as text: the open ones with their amounts, then what was decided. */
export function describeRecommendations({
  computed_at: at,
  open_usd: total,
  recommendations,
}: RecommendationList): string {
  if (at === null) return "Nothing was computed yet, as far as this key may see.";
  const open = recommendations.filter(({ state }) => state === "open");
  const decided = recommendations.filter(({ state }) => state !== "open");
  return [
    open.length === 0
      ? `There is nothing to recommend, as of ${at}.`
      : `As of ${at}, these changes would have saved ${usd(total)} in 30 days (of several about the same usage, only the largest counts):`,
    ...open
      .slice(0, maxNamed)
      .map(
        ({ title, method, saving_usd: saving, recorded_usd: recorded, repriced_usd: repriced }) =>
          `- ${title}: ${usd(saving)} (recorded ${usd(recorded)}, would have been ${usd(repriced)}). ${method}`,
      ),
    ...decided.slice(0, maxNamed).map(({ title, state, decision, saved }) => {
      const why = decision?.reason ? `: ${decision.reason}` : "";
      const measured = saved ? `; saved ${usd(saved.amount_usd)} from ${saved.from} to ${saved.to}` : "";
      return `- ${title}: ${state}${why}${measured}.`;
    }),
  ].join("\n");
}
