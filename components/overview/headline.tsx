import { type Amount, exactText } from "@/components/amount";
import { wholePercent } from "@/components/delta";
import { formatPercent } from "@/components/format-percent";
import { formatUsd } from "@/components/money";
import { periodWords } from "@/components/spend/period-words";
import { growthOf } from "@/components/spend/spend-stats";
import type { Metrics } from "@/lib/contract/metrics";

const dayName = new Intl.DateTimeFormat("en-US", { month: "long", day: "numeric", timeZone: "UTC" });
const numberOf = (amount: Amount) => Number(exactText(amount));

/**
 * The answer before any figure is explained: how much, compared with what, and where it leads.
 * @param budget the amount of the budget over everything, where there is one for this period
 */
export function Headline({ metrics, budget }: { metrics: Metrics; budget?: Amount | undefined }) {
  const { totals, previous, forecast_usd: forecast, to } = metrics;
  const words = periodWords(metrics);
  const growth = previous && growthOf(numberOf(totals.total_usd), numberOf(previous.to_point_usd));
  const compared = growth === null || words.pointBefore === null ? null : compare(growth, words.pointBefore);
  const ofBudget =
    forecast && budget !== undefined
      ? `, ${formatPercent(numberOf(forecast) / numberOf(budget))} of the budget`
      : "";
  return (
    <p className="max-w-[60ch] text-balance text-lg leading-snug sm:text-xl">
      <strong className="font-semibold tabular-nums" title={`$${exactText(totals.total_usd)}`}>
        {formatUsd(totals.total_usd)}
      </strong>{" "}
      {words.soFar}
      {compared ? <span className="text-muted-foreground">, {compared}</span> : null}
      {forecast && to ? (
        <span className="text-muted-foreground">
          ; at this pace{" "}
          <span className="tabular-nums" title={`$${exactText(forecast)}`}>
            {formatUsd(forecast)}
          </span>{" "}
          by {dayName.format(new Date(to))}
          {ofBudget}.
        </span>
      ) : (
        "."
      )}
    </p>
  );
}

function compare(growth: number, pointBefore: string): string {
  const percent = wholePercent(growth);
  if (percent === 0) return `as much as ${pointBefore}`;
  // Ten times as much is not "900 % more" to anybody.
  if (growth >= 2) return `${(growth + 1).toFixed(1)} times what it was ${pointBefore}`;
  return `${percent} % ${growth > 0 ? "more" : "less"} than ${pointBefore}`;
}
