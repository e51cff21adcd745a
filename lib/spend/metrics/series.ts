import type { Dimension, Metrics } from "@/lib/contract/spend/metrics";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { add, type Decimal, isZero, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays, addMonthStart, countDays, everything } from "@/lib/spend/period";
import type { BucketRow, SeriesScope, Slice } from "./metrics-queries";

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
  /** The sums by bucket in the other currency. Both currencies get the same layers. */
  alike?: BucketRow[] | undefined;
};

/**
 * A period's spend over time, with that of the preceding period.
 * @param slices the sums of each value of the dimension, the largest first
 * @param now milliseconds since 1970
 */
export function toSeries(
  { bucket, groupBy }: SeriesScope,
  { range, before, rows, earlier, alike }: SeriesOf,
  slices: Slice[],
  now: number,
): Series {
  const own = slices.length > maxGroups ? slices.slice(0, maxGroups - 1) : slices;
  const rest = slices.slice(own.length);
  const groups = [
    ...own.map(({ reference, name, amount }) => ({
      value: reference,
      name,
      is_rest: false,
      total_usd: toExact(parseDecimal(amount)),
    })),
    ...(rest.length > 0 ? [toRestGroup(rest)] : []),
  ];
  const buckets = bucketsOf(range, bucket, rows, now);
  const sums = sumBuckets(rows, buckets, groups.length);
  const layers = layersOf(groups, [...sums, ...sumBuckets(alike ?? [], buckets, groups.length)]);
  return {
    bucket,
    group_by: groupBy,
    groups,
    layers: layers.map(({ kind, group, amountOf }) => ({
      kind,
      value: group?.value ?? null,
      name: group?.name ?? null,
      total_usd: toExact(sum(sums.map(amountOf))),
    })),
    points: sums.map((point) => ({
      from: point.from,
      total_usd: toExact(sum(point.amounts)),
      amounts_usd: point.amounts.map(toExact),
      layers_usd: layers.map(({ amountOf }) => toExact(amountOf(point))),
    })),
    previous: before
      ? sumBuckets(earlier, bucketsOf(before, bucket, [], now), 1).map(({ from, amounts }) => ({
          from,
          total_usd: toExact(sum(amounts)),
        }))
      : [],
  };
}

function toRestGroup(rest: Slice[]): Series["groups"][number] {
  const total = sum(rest.map(({ amount }) => parseDecimal(amount)));
  return { value: null, name: null, is_rest: true, total_usd: toExact(total) };
}

/**
 * The sums of a bucket. `amounts`, `own` (without allocations), `belowZero` and `hasMoved` (whether anything was allocated) have one
 * entry for each group.
 */
type BucketSums = {
  from: string;
  amounts: Decimal[];
  own: Decimal[];
  belowZero: Decimal[];
  hasMoved: boolean[];
  allocatedIn: Decimal;
  allocatedOut: Decimal;
};

/** The sums of each bucket, including those without spend. Values without their own group count in the last group. */
function sumBuckets(rows: BucketRow[], buckets: string[], groups: number): BucketSums[] {
  const none = () => Array.from({ length: groups }, () => zero);
  const sums = new Map<string, BucketSums>(
    buckets.map((from) => [
      from,
      {
        from,
        amounts: none(),
        own: none(),
        belowZero: none(),
        hasMoved: Array.from({ length: groups }, () => false),
        allocatedIn: zero,
        allocatedOut: zero,
      },
    ]),
  );
  for (const { bucket, place, ...row } of rows) {
    const point = sums.get(bucket);
    if (!point) continue;
    const group = place ?? groups - 1;
    const count = (amounts: Decimal[], amount: Decimal) => {
      amounts[group] = add(amounts[group] ?? zero, amount);
    };
    const [amount, into, out] = [row.amount, row.allocated_in, row.allocated_out].map(parseDecimal) as [
      Decimal,
      Decimal,
      Decimal,
    ];
    count(point.amounts, amount);
    count(point.own, subtract(amount, add(into, out)));
    count(point.belowZero, parseDecimal(row.below_zero));
    if (!isZero(into) || !isZero(out)) point.hasMoved[group] = true;
    point.allocatedIn = add(point.allocatedIn, into);
    point.allocatedOut = add(point.allocatedOut, out);
  }
  return [...sums.values()];
}

type Layer = {
  kind: Series["layers"][number]["kind"];
  group?: Series["groups"][number];
  amountOf(point: BucketSums): Decimal;
};

/**
 * The layers stacked in each bucket: each group's own spend, the negative part of the rest, which its sum would otherwise hide, and
 * allocations. They sum to the groups. A group that has only allocations gets no layer, and layers of the other kinds are left out
 * if they are zero everywhere.
 */
function layersOf(groups: Series["groups"], points: BucketSums[]): Layer[] {
  const isAnywhere = (amountOf: Layer["amountOf"]) => points.some((point) => !isZero(amountOf(point)));
  const ofGroups = groups.flatMap((group, index): Layer[] => {
    const own = ({ own: amounts }: BucketSums) => amounts[index] ?? zero;
    if (!group.is_rest) {
      const isAllAllocated = !isAnywhere(own) && points.some(({ hasMoved }) => hasMoved[index]);
      return isAllAllocated ? [] : [{ kind: "value", group, amountOf: own }];
    }
    const below = ({ belowZero }: BucketSums) => belowZero[index] ?? zero;
    return [
      { kind: "rest", amountOf: (point) => subtract(own(point), below(point)) },
      ...(isAnywhere(below) ? [{ kind: "rest_below_zero" as const, amountOf: below }] : []),
    ];
  });
  const allocated: Layer[] = [
    { kind: "allocated_in", amountOf: ({ allocatedIn }) => allocatedIn },
    { kind: "allocated_out", amountOf: ({ allocatedOut }) => allocatedOut },
  ];
  return [...ofGroups, ...allocated.filter(({ amountOf }) => isAnywhere(amountOf))];
}

/**
 * The first days of a range's buckets. A range of all time starts at the first spend and ends today or at a later bucket.
 * @param rows the buckets with spend, in the order of time
 */
export function bucketsOf(
  range: DayRange,
  bucket: "day" | "month",
  rows: Pick<BucketRow, "bucket">[],
  now: number,
): string[] {
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
