import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { comparisonOf, periodOf } from "@/lib/contract/spend/ledger-query";
import { type Dimension, dimensions, type Metrics, type MetricsQuery } from "@/lib/contract/spend/metrics";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { absolute, compare, parseDecimal, sum } from "@/lib/decimal";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { pairAmounts } from "@/lib/spend/conversion";
import { type CutDayOf, loadCutDay } from "@/lib/spend/cut-day";
import { type Forecast, toForecastDetails } from "@/lib/spend/forecast";
import { toAnsweredRange, toAnsweredStretch } from "@/lib/spend/period";
import { isRefusedKnown, selectRefused } from "@/lib/spend/refused-queries";
import { toConvertedMetrics } from "./converted";
import {
  type BucketRow,
  type ReadDays,
  type SeriesScope,
  type Slice,
  selectAllocations,
  selectBreakdown,
  selectCutDay,
  selectTypeTotals,
  type TypeTotals,
  type ValueSlice,
} from "./metrics-queries";
import { convertForecast, loadForecast } from "./period-forecast";
import type { SpendScope } from "./rows-sql";
import { seriesScopeOf, toSeries } from "./series";
import { daysOf, loadDisplay, toBookedAhead, toTotals } from "./totals";

/** The most slices of a breakdown; one more has the sum of the rest. */
const maxSlices = 100;

/**
 * Reads a workspace's spend in a period with its breakdowns, in one snapshot.
 * @throws ServiceError not_found, validation_failed for a currency without a rate
 */
export function readMetrics(claims: UserClaims, slug: string, query: MetricsQuery): Promise<Metrics> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return loadMetrics(client, id, query, clockOf(timeZone, now));
  });
}

/**
 * Like `readMetrics`, in the caller's transaction, which must be one snapshot and whose policies limit what is counted. With a
 * currency, the amounts are ConvertedNumbers.
 * @param clock that of the workspace at the transaction's time; it decides the current day, week and month
 * @param given the currency in which sums are wanted besides USD, with its rates; by default that of the query
 */
export async function loadMetrics(
  client: ClientBase,
  workspaceId: string,
  query: MetricsQuery,
  clock: Clock,
  given?: Display,
): Promise<Metrics> {
  return (await loadMetricsAndTypes(client, workspaceId, query, clock, given)).metrics;
}

/** Like `loadMetrics`, and also returns the rows of `selectTypeTotals` by type, in USD, from which the metrics are made. */
export async function loadMetricsAndTypes(
  client: ClientBase,
  workspaceId: string,
  { group_by: groupBy, currency, ...query }: MetricsQuery,
  clock: Clock,
  given?: Display,
): Promise<{ metrics: Metrics; types: TypeTotals[] }> {
  const display = given ?? (await loadDisplay(client, workspaceId, { ...query, currency }, clock));
  const scope = { workspaceId, filters: query };
  const { now } = clock;
  const days = daysOf(query, now);
  const series = seriesScopeOf(days.range, groupBy);
  const cut = await loadCut(client, scope, days, clock.timeZone);
  const recorded = await loadSums(client, scope, days, series, cut);
  const forecast = await loadForecast(
    client,
    scope,
    { period: periodOf(query), range: days.range, now, environment: query.environment },
    recorded.types,
  );
  const asked = { query, days, series, cut, clock, refused: await loadRefused(client, scope, days) };
  const { types } = recorded;
  if (!display) return { metrics: toMetrics(asked, recorded, forecast), types };
  const converted = followOrder(
    recorded,
    await loadSums(client, { ...scope, display }, days, series, cut, recorded.largest),
  );
  const answer = toMetrics(asked, recorded, forecast, converted);
  const convertedForecast = forecast && convertForecast(display, forecast, converted.types);
  const ofCurrency = toMetrics(asked, converted, convertedForecast, recorded);
  const paired = pairAmounts(answer, ofCurrency);
  return { metrics: { ...paired, converted: toConvertedMetrics(display, paired) }, types };
}

/** `usd`: the USD amount of a converted sum, by which it is sorted. */
type ByUsd = { usd?: string };

/** The sums that metrics are made of; `ofTypes` are those by type, the largest first. */
type MetricsSums = {
  sums: TypeTotals[];
  types: TypeTotals[];
  ofTypes: (Slice & ByUsd)[];
  slices: (ValueSlice & ByUsd)[];
  buckets: BucketRow[];
  allocations: Omit<BucketRow, "place" | "amount" | "below_zero">[];
  largest: (string | null)[];
  /** The spend in the part of the cut day that counts. */
  ofCutDay: string;
};

/** What limits refused in a period; null if that is not known for the filters. */
async function loadRefused(
  client: ClientBase,
  scope: SpendScope,
  { spent }: ReadDays,
): Promise<Metrics["refused"]> {
  if (!isRefusedKnown(scope)) return null;
  const { usd, messages } = await selectRefused(client, scope, spent);
  return { total_usd: toExact(parseDecimal(usd)), message_count: Number(messages) };
}

/** Decides how the cut day of the days compared with is read; undefined if there is none. */
async function loadCut(
  client: ClientBase,
  { workspaceId, filters }: SpendScope,
  { before }: ReadDays,
  timeZone: string,
): Promise<CutDayOf | undefined> {
  const cut = before?.stretch.cut;
  return cut && loadCutDay(client, workspaceId, [filters.environment ?? "live"], cut, timeZone);
}

/** @param known the largest values of the series, if the caller knows them */
async function loadSums(
  client: ClientBase,
  scope: SpendScope,
  days: ReadDays,
  series: SeriesScope,
  cut: CutDayOf | undefined,
  known?: (string | null)[],
): Promise<MetricsSums> {
  const sums = await selectTypeTotals(client, scope, days, series);
  const types = sums.filter(({ bucket }) => bucket === null);
  const breakdown = await selectBreakdown(client, scope, days.spent, series, known);
  const hasAllocations = types.some(({ type, is_current: isCurrent }) => type === "allocation" && isCurrent);
  const allocations =
    series.groupBy === "type" && hasAllocations
      ? await selectAllocations(client, scope, days.spent, series.bucket)
      : [];
  const ofCutDay = cut ? await selectCutDay(client, scope, cut) : "0";
  return { sums, types, ofTypes: sliceTypes(types), ...breakdown, allocations, ofCutDay };
}

/** Puts converted sums into the order of the sums in USD, which can differ from the order of the converted amounts. */
function followOrder(recorded: MetricsSums, converted: MetricsSums): MetricsSums {
  const nameOf = ({ dimension, value }: ValueSlice) => `${dimension} ${value ?? ""} ${value === null}`;
  const amounts = new Map(converted.slices.map((slice) => [nameOf(slice), slice.amount]));
  const ofTypes = new Map(converted.ofTypes.map(({ reference, amount }) => [reference, amount]));
  return {
    ...converted,
    slices: recorded.slices.map((slice) => ({
      ...slice,
      usd: slice.amount,
      amount: amounts.get(nameOf(slice)) ?? "0",
    })),
    ofTypes: recorded.ofTypes.map((slice) => ({
      ...slice,
      usd: slice.amount,
      amount: ofTypes.get(slice.reference) ?? "0",
    })),
  };
}

/** A query with what was read and computed for it, except the sums. */
type Asked = {
  query: Omit<MetricsQuery, "group_by" | "currency">;
  days: ReadDays;
  series: SeriesScope;
  cut: CutDayOf | undefined;
  clock: Clock;
  refused: Metrics["refused"];
};

/** @param alike the sums in the other currency, if there is one */
function toMetrics(
  { query, days, series, cut, clock, refused }: Asked,
  recorded: MetricsSums,
  forecast: Forecast | null,
  alike?: MetricsSums,
): Metrics {
  const { sums, types, ofTypes, slices: ofColumns } = recorded;
  const { range, before } = days;
  const rowsOf = (of: MetricsSums) =>
    series.groupBy === "type" ? bucketsByType(of.sums, of.ofTypes, of.allocations) : of.buckets;
  const slices = [...ofColumns, ...ofTypes];
  return {
    period: periodOf(query),
    ...toAnsweredRange(range),
    environment: query.environment,
    totals: toTotals(types, ""),
    booked_ahead: toBookedAhead(types, days),
    refused,
    compare: comparisonOf(query),
    previous: before
      ? {
          ...(toAnsweredRange(before.whole) as { from: string; to: string }),
          totals: toTotals(types, "before_"),
          to_point_usd: toExact(
            sum([recorded.ofCutDay, ...types.map((row) => row.before_stretch)].map(parseDecimal)),
          ),
          to_point: toAnsweredStretch(before, cut?.isEstimate ?? false, clock.timeZone),
        }
      : null,
    forecast_usd: forecast && toExact(forecast.total),
    forecast: toForecastDetails(forecast),
    series: toSeries(
      series,
      {
        range,
        before: before?.aligned,
        rows: rowsOf(recorded),
        alike: alike && rowsOf(alike),
        earlier: sums.flatMap(({ type, bucket, before_aligned: amount }) =>
          type === null && bucket !== null ? [{ ...undivided, bucket, place: null, amount }] : [],
        ),
      },
      slices.filter(({ dimension }) => dimension === series.groupBy),
      clock.now,
    ),
    ...(Object.fromEntries(
      dimensions.map((dimension) => [
        `by_${dimension}`,
        toSlices(slices.filter((slice) => slice.dimension === dimension)),
      ]),
    ) as Pick<Metrics, `by_${Dimension}`>),
  };
}

/** The parts of a bucket that is not divided into parts. */
const undivided = { allocated_in: "0", allocated_out: "0", below_zero: "0" };

/**
 * The buckets of a series that is stacked by type. There are fewer types than groups, so there is no rest.
 * @param types largest first
 * @param allocations netted by project, because all allocations of a workspace sum to zero
 */
function bucketsByType(
  sums: TypeTotals[],
  types: Slice[],
  allocations: Omit<BucketRow, "place" | "amount" | "below_zero">[],
): BucketRow[] {
  const placeOf = new Map(types.map(({ reference }, place) => [reference, place]));
  const allocatedIn = new Map(allocations.map(({ bucket, ...parts }) => [bucket, parts]));
  return sums.flatMap(({ type, bucket, is_current, amount }) =>
    type !== null && bucket !== null && is_current
      ? [
          {
            ...undivided,
            ...(type === "allocation" && allocatedIn.get(bucket)),
            bucket,
            place: placeOf.get(type) ?? null,
            amount,
          },
        ]
      : [],
  );
}

function sliceTypes(types: TypeTotals[]): Slice[] {
  return types
    .filter((row) => row.is_current)
    .map(({ type, amount, messages }) => ({
      dimension: "type" as const,
      reference: type,
      name: type,
      amount,
      messages,
    }))
    .sort((a, b) => compare(absolute(parseDecimal(b.amount)), absolute(parseDecimal(a.amount))));
}

/** The largest slices regardless of sign, sorted from the highest to the lowest amount, and the sum of the rest. */
function toSlices(slices: (Slice & ByUsd)[]): Metrics["by_project"] {
  const largest = slices.slice(0, maxSlices);
  largest.sort((a, b) => compare(parseDecimal(b.usd ?? b.amount), parseDecimal(a.usd ?? a.amount)));
  const listed = largest.map(({ reference, name, amount, messages }) => ({
    value: reference,
    name,
    is_rest: false,
    total_usd: toExact(parseDecimal(amount)),
    message_count: Number(messages),
  }));
  const rest = slices.slice(maxSlices);
  if (rest.length === 0) return listed;
  return [
    ...listed,
    {
      value: null,
      name: null,
      is_rest: true,
      total_usd: toExact(sum(rest.map(({ amount }) => parseDecimal(amount)))),
      message_count: rest.reduce((count, { messages }) => count + Number(messages), 0),
    },
  ];
}
