import type { RecommendationList } from "@/lib/contract/spend/recommendations";
import { absolute, compare, parseDecimal, zero } from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
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
  const open = recommendations.filter(({ state, kind }) => state === "open" && kind !== "disputed_price");
  const disputed = recommendations.filter(({ state, kind }) => state === "open" && kind === "disputed_price");
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
    ...disputed
      .slice(0, maxNamed)
      .map(
        ({ title, target, method, saving_usd: saving, recorded_usd: recorded, repriced_usd: repriced }) =>
          `- ${title}, which is no saving: ${describeDifference(saving)} at the price of ${target} (recorded ${usd(recorded)}, would have been ${usd(repriced)}). ${method}`,
      ),
    ...decided.slice(0, maxNamed).map(({ kind, title, state, decision, saved }) => {
      const why = decision?.reason ? `: ${decision.reason}` : "";
      const figure =
        saved &&
        (kind === "disputed_price" ? describeDifference(saved.amount_usd) : `saved ${usd(saved.amount_usd)}`);
      const measured = saved ? `; ${figure} from ${saved.from} to ${saved.to}` : "";
      return `- ${title}: ${state}${why}${measured}.`;
    }),
  ].join("\n");
}

/** What is less is positive: "$12.40 more" for -12.4. */
function describeDifference(less: RecommendationList["open_usd"]): string {
  const amount = parseDecimal(typeof less === "number" ? less : less.text);
  return `${usd(toExact(absolute(amount)))} ${compare(amount, zero) < 0 ? "more" : "less"}`;
}
