import { type Amount, toNumber } from "@/components/figures/amount";
import { formatGrowth, growthOf, wholePercent } from "@/components/figures/delta";
import { formatLongDay } from "@/components/figures/format-date";
import { formatPercent, isManyTimes } from "@/components/figures/format-percent";
import { Money, shownNumber } from "@/components/figures/money";
import { ForecastFigure } from "@/components/spend/forecast-figure";
import { periodLabels } from "@/components/spend/period-labels";
import type { Metrics } from "@/lib/contract/spend/metrics";

/** The figures of a period, and the workspace's current day. */
type HeadlineView = { metrics: Metrics; today: string };

/**
 * The spend of a period in a sentence: the total, its change against the days it is compared with, and the forecast.
 * @param props.budget USD; the limit of the budget for all spend, when the period has one
 */
export function Headline({ view, budget }: { view: HeadlineView; budget?: Amount | undefined }) {
  const { totals, previous, forecast_usd: forecast, forecast: details, to } = view.metrics;
  const labels = periodLabels(view.metrics, view.today);
  const growth = previous && growthOf(shownNumber(totals.total_usd), shownNumber(previous.to_point_usd));
  const compared =
    growth === null || labels.previousPoint === null ? null : compare(growth, labels.previousPoint);
  const ofBudget = forecast && budget !== undefined ? toNumber(forecast) / toNumber(budget) : undefined;
  return (
    <p className="max-w-[60ch] text-balance text-lg leading-snug sm:text-xl">
      <strong className="font-semibold">
        <Money usd={totals.total_usd} figure="totals.total_usd" />
      </strong>{" "}
      {labels.soFar}
      {compared ? <span className="text-muted-foreground">, {compared}</span> : null}
      {forecast && to ? (
        <span className="text-muted-foreground">
          ; expected to reach <ForecastFigure usd={forecast} details={details} figure="forecast_usd" /> by{" "}
          {formatLongDay(to)}
          {ofBudget === undefined
            ? null
            : `, ${formatPercent(ofBudget)}${isManyTimes(ofBudget) ? "" : " of"} the budget`}
          .
        </span>
      ) : (
        "."
      )}
    </p>
  );
}

function compare(growth: number, previousPoint: string): string {
  if (wholePercent(growth) === 0) return `as much as ${previousPoint}`;
  if (isManyTimes(growth)) return `${formatGrowth(growth)} what it was ${previousPoint}`;
  return `${formatGrowth(growth)} ${growth > 0 ? "more" : "less"} than ${previousPoint}`;
}
