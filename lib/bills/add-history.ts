import type { Metrics } from "@/lib/contract/spend/metrics";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import type { DayRange } from "@/lib/contract/values/month";
import { add, type Decimal, divideMoney, multiply, parseDecimal, sum, toText, zero } from "@/lib/decimal";
import { addDays, addMonthStart, everything } from "@/lib/spend/period";
import { type HistoryDay, isCounted, isWithin } from "./history";

type Amount = ExactNumber | number;

/** The sum of the history of some days, with its conversion if the days have one. */
export function sumHistory(days: readonly HistoryDay[], { from, until }: DayRange = everything): ExactNumber {
  const within = days.filter(({ day }) => isWithin(day, { from, until }));
  return toAmount(
    sum(within.map(({ amount }) => amount)),
    days[0]?.converted && sum(within.map(({ converted }) => converted ?? zero)),
  );
}

const toAmount = (usd: Decimal, converted: Decimal | undefined) =>
  converted === undefined
    ? new ExactNumber(toText(usd))
    : new ConvertedNumber(toText(usd), toText(converted));

/** The sum of two amounts, with its conversion if one of them has one. One without is zero or has the other's. */
export function plus(a: Amount, b: Amount): ExactNumber {
  const usd = [a, b].map((one) => parseDecimal(one instanceof ExactNumber ? one.text : one));
  const converted = [a, b].flatMap((one) => (one instanceof ConvertedNumber ? [one.converted] : []));
  return toAmount(usd.reduce(add, zero), converted.length > 0 ? sum(converted.map(parseDecimal)) : undefined);
}

/** The days of metrics and of all that they are compared with. */
export function daysOf({ from, to, previous, series }: Metrics): DayRange {
  const firsts = [
    from ?? everything.from,
    previous?.from,
    previous?.to_point?.from,
    series.previous[0]?.from,
  ];
  return {
    from: firsts.flatMap((day) => day ?? []).sort()[0] ?? everything.from,
    until: to === null ? everything.until : addDays(to, 1),
  };
}

/**
 * The history of the shown days: its sum, that of each point of the series, and that of the days compared with. `isCounted`: whether the
 * metrics have it.
 */
export type ShownHistory = {
  total: ExactNumber;
  points: ExactNumber[];
  before: ExactNumber;
  isCounted: boolean;
};

/**
 * Counts billed history in metrics, unless it is switched off: by default where nothing was recorded of a provider yet.
 * @param days those of `daysOf` @param choice `on` or `off`
 * @returns the metrics; `history`: undefined where there is none
 */
export function withHistory(
  metrics: Metrics,
  days: readonly HistoryDay[],
  choice: unknown,
): { metrics: Metrics; history: ShownHistory | undefined } {
  if (days.length === 0) return { metrics, history: undefined };
  const counts = isCounted(days, choice);
  const added = addHistory(metrics, days);
  return { metrics: counts ? added.metrics : metrics, history: { ...added.history, isCounted: counts } };
}

/**
 * Metrics with billed history: in the total, in what they are compared with, in the forecast of the period, and in the points of the series.
 * Their parts (`usage_usd`, the layers, the breakdowns) have what was recorded, so that together with the history they sum to the total.
 * @param days those of the shown period and of the days compared with
 */
function addHistory(
  metrics: Metrics,
  days: readonly HistoryDay[],
): { metrics: Metrics; history: Omit<ShownHistory, "isCounted"> } {
  const { from, to, previous, series, forecast_usd: forecast } = metrics;
  const shown = { from: from ?? everything.from, until: to === null ? everything.until : addDays(to, 1) };
  const total = sumHistory(days, shown);
  const before = previous && { from: previous.from, until: addDays(previous.to, 1) };
  const points = withEarlierMonths(series, days, shown);
  const ofPoints = points.map(({ from: first }) => sumHistory(days, bucketOf(series, first, shown)));
  const details = metrics.forecast;
  return {
    metrics: {
      ...metrics,
      totals: { ...metrics.totals, total_usd: plus(metrics.totals.total_usd, total) },
      previous: previous && {
        ...previous,
        totals: {
          ...previous.totals,
          total_usd: plus(previous.totals.total_usd, sumHistory(days, before ?? shown)),
        },
        to_point_usd: plus(previous.to_point_usd, sumToPoint(days, previous.to_point)),
      },
      forecast_usd: forecast && plus(forecast, total),
      forecast: details && {
        ...details,
        low_usd: plus(details.low_usd, total),
        high_usd: plus(details.high_usd, total),
      },
      series: {
        ...series,
        points: points.map((point, index) => ({
          ...point,
          total_usd: plus(point.total_usd, ofPoints[index] ?? 0),
        })),
        previous: series.previous.map((point) => ({
          ...point,
          total_usd: plus(point.total_usd, sumHistory(days, bucketOf(series, point.from, before ?? shown))),
        })),
      },
    },
    history: { total, points: ofPoints, before: before ? sumHistory(days, before) : new ExactNumber("0") },
  };
}

/** The days of a bucket, within those of the range. */
function bucketOf({ bucket }: Metrics["series"], from: string, range: DayRange): DayRange {
  if (bucket === "day") return { from, until: addDays(from, 1) };
  const [last] = [addMonthStart(from, 1), range.until].sort();
  return { from: from < range.from ? range.from : from, until: last ?? range.until };
}

/** The points of a series; of all time also those of the months that only have history. */
function withEarlierMonths(
  { bucket, points, layers, groups }: Metrics["series"],
  days: readonly HistoryDay[],
  range: DayRange,
): Metrics["series"]["points"] {
  const first = days[0]?.day;
  if (range.from !== everything.from || bucket !== "month" || first === undefined) return points;
  const end = points[0]?.from ?? addMonthStart(days.at(-1)?.day ?? first, 1);
  const earlier: Metrics["series"]["points"] = [];
  for (let month = addMonthStart(first, 0); month < end; month = addMonthStart(month, 1))
    earlier.push({
      ...{ from: month, total_usd: 0 },
      amounts_usd: groups.map(() => 0),
      layers_usd: layers.map(() => 0),
    });
  return [...earlier, ...points];
}

type ToPoint = NonNullable<Metrics["previous"]>["to_point"];

/** The history of the days that correspond to the elapsed part of a period; of the last day the part that has passed. */
export function sumToPoint(days: readonly HistoryDay[], stretch: ToPoint): ExactNumber {
  if (!stretch) return new ExactNumber("0");
  const { from, to, until } = stretch;
  if (until === null) return sumHistory(days, { from, until: addDays(to, 1) });
  const passed = Math.min(Math.max(Date.parse(until) - Date.parse(to), 0), 86_400_000);
  const part = (of: Decimal) => divideMoney(multiply(of, parseDecimal(passed)), parseDecimal(86_400_000));
  const cut = days.filter(({ day }) => day === to);
  const ofCut = cut.map((one) => ({
    ...one,
    amount: part(one.amount),
    converted: one.converted && part(one.converted),
  }));
  return plus(sumHistory(days, { from, until: to }), sumHistory(ofCut));
}
