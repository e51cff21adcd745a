import type { z } from "zod";
import { type Amount, exactText, toNumber } from "@/components/figures/amount";
import { formatCount } from "@/components/figures/format-count";
import { formatMoney } from "@/components/figures/money";
import type { forecastDetails } from "@/lib/contract/spend/forecast";

/** How a forecast was made. */
export type ForecastDetails = NonNullable<z.output<typeof forecastDetails>>;

/** A forecast amount. If it was rounded to whole dollars, it is shown in whole units, because it is not more accurate. */
export function formatForecast(usd: Amount): string {
  return formatMoney(usd, !exactText(usd).includes("."));
}

/** Both ends of the range of a forecast: in whole units if one of them is. What is spent is the lower end of some. */
function formatEnds({ low_usd: low, high_usd: high }: ForecastDetails): [from: string, to: string] {
  const isWhole = [low, high].some((usd) => !exactText(usd).includes("."));
  return [formatMoney(low, isWhole), formatMoney(high, isWhole)];
}

/** The range of a forecast: "$5,500 to $5,900"; a single amount if both ends are equal. */
export function formatForecastRange(details: ForecastDetails): string {
  const [from, to] = formatEnds(details);
  return from === to ? from : `${from} to ${to}`;
}

/** How a forecast was made, in sentences. */
export function explainForecast(details: ForecastDetails): string {
  const { recorded_usd: recorded, coming_usd: coming, added_usd: added } = details;
  const { days_left: left, days_compared: compared } = details;
  const days =
    left === 1 ? "The rest of today adds" : `The ${formatCount(left, "day")} left, with today, add`;
  return [
    `${formatMoney(recorded)} is recorded or booked.`,
    ...(toNumber(coming) > 0 ? [`Recurring subscriptions add ${formatMoney(coming)}.`] : []),
    compared === 0
      ? "No usage is expected."
      : `${days} ${formatForecast(added)}: the median usage of the same weekdays in the last ${formatCount(compared, "day")}, moved along its trend.`,
    "Expenses and allocations are not extrapolated. At least four of five totals lie in the range.",
  ].join(" ");
}

/** A forecast amount, with how it was made on hover. */
export function ForecastFigure({
  usd,
  details,
  figure,
}: {
  usd: Amount;
  details: ForecastDetails | null;
  figure: string;
}) {
  return (
    <span
      className="tabular-nums"
      title={details ? explainForecast(details) : undefined}
      data-figure={figure}
      data-exact={exactText(usd)}
    >
      {formatForecast(usd)}
    </span>
  );
}

/** Whether a forecast is a range, and not a single amount. */
export const hasRange = ({ low_usd: low, high_usd: high }: ForecastDetails) =>
  toNumber(low) !== toNumber(high);

/** The range of a forecast as a note: "Between $5,500 and $5,900". Shows nothing for a single amount. */
export function ForecastRange({ details }: { details: ForecastDetails | null }) {
  if (!details || !hasRange(details)) return null;
  const [from, to] = formatEnds(details);
  return (
    <span title={explainForecast(details)}>
      Between {from} and {to}
    </span>
  );
}
