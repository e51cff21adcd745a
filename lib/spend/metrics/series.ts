import { dayOf } from "@/lib/contract/instant";
import type { Dimension, Metrics } from "@/lib/contract/metrics";
import type { DayRange } from "@/lib/contract/month";
import { add, parseDecimal, sum, zero } from "@/lib/ledger/pricing/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays, addMonthStart, countDays, everything } from "@/lib/spend/period";
import type { BucketRow, SeriesScope, Slice } from "./queries";

/** The most groups of a series, one per colour. If there are more values, the last group is the sum of the rest. */
const maxGroups = 8;

/** The most days of a series by day; longer ranges are by month. A quarter has at most 92. */
const maxDayBuckets = 92;

type Series = Metrics["series"];

/** How a period is split into a series. */
export function seriesScopeOf(range: DayRange, groupBy: Dimension): SeriesScope {
  const isShort = range.until !== everything.until && countDays(range) <= maxDayBuckets;
  return { bucket: isShort ? "day" : "month", groupBy, maxGroups };
}

/** What a series shows: its period, the preceding one, and the sums by bucket of each. */
export type SeriesOf = {
  range: DayRange;
  before: DayRange | undefined;
  rows: BucketRow[];
  earlier: BucketRow[];
};

/**
 * A period's spend over time, with that of the preceding period.
 * @param slices the sums of each value of the dimension, highest first
 * @param now milliseconds since 1970
 */
export function toSeries(
  { bucket, groupBy }: SeriesScope,
  { range, before, rows, earlier }: SeriesOf,
  slices: Slice[],
  now: number,
): Series {
  const own = slices.length > maxGroups ? slices.slice(0, maxGroups - 1) : slices;
  const rest = slices.slice(own.length);
  return {
    bucket,
    group_by: groupBy,
    groups: [
      ...own.map(({ reference, name, amount }) => ({
        value: reference,
        name,
        is_rest: false,
        total_usd: toExact(parseDecimal(amount)),
      })),
      ...(rest.length > 0 ? [toRestGroup(rest)] : []),
    ],
    points: toPoints(rows, bucketsOf(range, bucket, rows, now), own.length + (rest.length > 0 ? 1 : 0)),
    previous: before
      ? toPoints(earlier, bucketsOf(before, bucket, [], now), 1).map(({ from, total_usd }) => ({
          from,
          total_usd,
        }))
      : [],
  };
}

function toRestGroup(rest: Slice[]): Series["groups"][number] {
  const total = sum(rest.map(({ amount }) => parseDecimal(amount)));
  return { value: null, name: null, is_rest: true, total_usd: toExact(total) };
}

/** One point per bucket, also for those without spend. Values without a group of their own count in the last group. */
function toPoints(rows: BucketRow[], buckets: string[], groups: number): Series["points"] {
  const sums = new Map(buckets.map((from) => [from, Array.from({ length: groups }, () => zero)]));
  for (const { bucket, place, amount } of rows) {
    const amounts = sums.get(bucket);
    const group = place ?? groups - 1;
    if (amounts) amounts[group] = add(amounts[group] ?? zero, parseDecimal(amount));
  }
  return [...sums].map(([from, amounts]) => ({
    from,
    total_usd: toExact(sum(amounts)),
    amounts_usd: amounts.map(toExact),
  }));
}

/** The first days of a range's buckets. The range of everything starts at the first spend and ends at now or later. */
function bucketsOf(range: DayRange, bucket: "day" | "month", rows: BucketRow[], now: number): string[] {
  const next = (day: string) => (bucket === "day" ? addDays(day, 1) : addMonthStart(day, 1));
  const isEndless = range.until === everything.until;
  const first = isEndless ? rows[0]?.bucket : range.from;
  if (first === undefined) return [];
  const ends = [first, rows.at(-1)?.bucket ?? first, dayOf(now)].sort();
  const until = isEndless ? addDays(ends.at(-1) ?? first, 1) : range.until;
  const buckets: string[] = [];
  const start = bucket === "day" ? first : addMonthStart(first, 0);
  for (let day = start; day < until; day = next(day)) buckets.push(day);
  return buckets;
}
