import { type Amount, toNumber } from "@/components/figures/amount";
import { growthOf, wholePercent } from "@/components/figures/delta";
import { formatOneDecimal } from "@/components/figures/format-count";
import { formatLongDay } from "@/components/figures/format-date";
import { formatExactUsd } from "@/components/figures/format-money";
import { formatPercent, formatWholePercent } from "@/components/figures/format-percent";
import { formatMoney, shownNumber } from "@/components/figures/money";
import { explainForecast, formatForecast } from "@/components/spend/forecast-figure";
import { periodLabels } from "@/components/spend/period-labels";
import type { Metrics } from "@/lib/contract/spend/metrics";

/** The figures of a period, and the current UTC day. */
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
  const ofBudget =
    forecast && budget !== undefined
      ? `, ${formatPercent(toNumber(forecast) / toNumber(budget))} of the budget`
      : "";
  return (
    <p className="max-w-[60ch] text-balance text-lg leading-snug sm:text-xl">
      <strong className="font-semibold tabular-nums" title={formatExactUsd(totals.total_usd)}>
        {formatMoney(totals.total_usd)}
      </strong>{" "}
      {labels.soFar}
      {compared ? <span className="text-muted-foreground">, {compared}</span> : null}
      {forecast && to ? (
        <span className="text-muted-foreground">
          ; expected to reach{" "}
          <span className="tabular-nums" title={details ? explainForecast(details) : undefined}>
            {formatForecast(forecast)}
          </span>{" "}
          by {formatLongDay(to)}
          {ofBudget}.
        </span>
      ) : (
        "."
      )}
    </p>
  );
}

function compare(growth: number, previousPoint: string): string {
  const percent = wholePercent(growth);
  if (percent === 0) return `as much as ${previousPoint}`;
  // From three times as much on, a factor is easier to read than a percentage.
  if (growth >= 2) return `${formatOneDecimal(growth + 1)} times what it was ${previousPoint}`;
  return `${formatWholePercent(percent)} ${growth > 0 ? "more" : "less"} than ${previousPoint}`;
}
