import { type Dimension, dimensions, type Metrics } from "@/lib/contract/spend/metrics";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { convertedAmount as amountOf, toConversion } from "@/lib/spend/conversion";

type Total = { total_usd: ExactNumber | number };

const totalOf = ({ total_usd: total }: Total) => amountOf(total);

/** The amounts of metrics in another currency, in the form of the response. @param metrics with converted amounts */
export function toConvertedMetrics(
  display: Display,
  { totals, booked_ahead: ahead, previous, forecast_usd: forecast, series, ...metrics }: Metrics,
): Metrics["converted"] {
  return {
    ...toConversion(display),
    totals: {
      total: amountOf(totals.total_usd),
      usage: amountOf(totals.usage_usd),
      subscription: amountOf(totals.subscription_usd),
      expense: amountOf(totals.expense_usd),
      adjustment: amountOf(totals.adjustment_usd),
      included: amountOf(totals.included_usd),
    },
    booked_ahead: ahead && amountOf(ahead.total_usd),
    previous: previous && { total: totalOf(previous.totals), to_point: amountOf(previous.to_point_usd) },
    forecast: forecast === null ? null : amountOf(forecast),
    series: {
      groups: series.groups.map(totalOf),
      layers: series.layers.map(totalOf),
      points: series.points.map(({ from, total_usd: total, amounts_usd: amounts, layers_usd: layers }) => ({
        from,
        total: amountOf(total),
        amounts: amounts.map(amountOf),
        layers: layers.map(amountOf),
      })),
      previous: series.previous.map(({ from, ...point }) => ({ from, total: totalOf(point) })),
    },
    ...(Object.fromEntries(
      dimensions.map((dimension) => [`by_${dimension}`, metrics[`by_${dimension}`].map(totalOf)]),
    ) as Record<`by_${Dimension}`, (ExactNumber | number)[]>),
  };
}
