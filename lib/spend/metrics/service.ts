import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { ExactNumber } from "@/lib/contract/exact-number";
import { dayOf } from "@/lib/contract/instant";
import { comparisonOf, type Period, periodOf } from "@/lib/contract/ledger-query";
import { type Dimension, dimensions, type Metrics, type MetricsQuery } from "@/lib/contract/metrics";
import type { DayRange } from "@/lib/contract/month";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import {
  absolute,
  compare,
  type Decimal,
  parseDecimal,
  subtract,
  sum,
  zero,
} from "@/lib/ledger/pricing/decimal";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { convertComing, displayOf, pairAmounts } from "@/lib/spend/conversion";
import { type Forecast, forecastSpend, toForecastDetails, toUsage, usageDays } from "@/lib/spend/forecast";
import {
  comparedRange,
  everything,
  rangeOf,
  samePointBefore,
  spentWithin,
  toAnsweredRange,
} from "@/lib/spend/period";
import { toConvertedMetrics } from "./converted";
import {
  type BucketRow,
  type ReadDays,
  type SeriesScope,
  type Slice,
  type SpendScope,
  selectAllocations,
  selectBreakdown,
  selectTypeTotals,
  selectUsage,
  type TypeTotals,
  type ValueSlice,
} from "./queries";
import { seriesScopeOf, toSeries } from "./series";

/** The most slices of a breakdown; the rest is summed in one more. */
const maxSlices = 100;

/**
 * Reads a workspace's spend in a period with its breakdowns, in one snapshot.
 * @throws ServiceError not_found, validation_failed for a currency without a rate
 */
export function readMetrics(claims: UserClaims, slug: string, query: MetricsQuery): Promise<Metrics> {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    return loadMetrics(client, id, query, now);
  });
}

/**
 * Like `readMetrics`, in the caller's transaction, which must be one snapshot and whose policies limit what is counted. With a
 * currency, the amounts are ConvertedNumbers.
 * @param now the transaction's time in milliseconds since 1970; it decides the current day, week and month
 * @param display the currency in which sums are wanted besides USD
 */
export async function loadMetrics(
  client: ClientBase,
  workspaceId: string,
  { group_by: groupBy, currency, ...query }: MetricsQuery,
  now: number,
  display = displayOf(currency),
): Promise<Metrics> {
  const scope = { workspaceId, filters: query };
  const period = periodOf(query);
  const range = rangeOf(query, now);
  const before = comparedRange(query, range);
  const days = {
    range,
    spent: spentWithin(range, now),
    before: before && spentWithin(before, now),
    point: before && samePointBefore(period, range, before, now),
  };
  const series = seriesScopeOf(range, groupBy);
  const recorded = await loadSums(client, scope, days, series);
  const forecast = await loadForecast(client, scope, { period, range, now }, recorded.types);
  const asked = { query, days, before, series, now };
  const answer = toMetrics(asked, recorded, forecast);
  if (!display) return answer;
  const converted = followOrder(
    recorded,
    await loadSums(client, { ...scope, display }, days, series, recorded.largest),
  );
  const ofCurrency = toMetrics(asked, converted, forecast && convertForecast(display, forecast, converted));
  const paired = pairAmounts(answer, ofCurrency);
  return { ...paired, converted: toConvertedMetrics(display, paired) };
}

/** Of a converted sum: what it is in USD, by which both are ordered. */
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
};

/** @param known the largest values of the series, where they are known */
async function loadSums(
  client: ClientBase,
  scope: SpendScope,
  days: ReadDays,
  series: SeriesScope,
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
  return { sums, types, ofTypes: sliceTypes(types), ...breakdown, allocations };
}

/** Converted sums in the order of those in USD, which need not be that of their own amounts. */
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

/** A forecast in a currency: what is recorded or booked is converted day by day, what is expected at the latest rate. */
function convertForecast(display: Display, forecast: Forecast, { types }: MetricsSums): Forecast {
  const recorded = sum(types.flatMap((row) => [parseDecimal(row.amount), parseDecimal(row.ahead_amount)]));
  const toCurrency = (usd: Decimal) => convertComing(display, recorded, subtract(usd, forecast.recorded));
  return {
    ...forecast,
    recorded,
    total: toCurrency(forecast.total),
    low: toCurrency(forecast.low),
    high: toCurrency(forecast.high),
    added: convertComing(display, zero, forecast.added),
  };
}

/** What metrics are asked of: the query, its days, the days compared with, whole, and the time. */
type Asked = {
  query: Omit<MetricsQuery, "group_by" | "currency">;
  days: ReadDays;
  before: DayRange | undefined;
  series: SeriesScope;
  now: number;
};

function toMetrics(
  { query, days, before, series, now }: Asked,
  { sums, types, ofTypes, slices: ofColumns, buckets, allocations }: MetricsSums,
  forecast: Forecast | null,
): Metrics {
  const { range } = days;
  const slices = [...ofColumns, ...ofTypes];
  return {
    period: periodOf(query),
    ...toAnsweredRange(range),
    environment: query.environment,
    totals: toTotals(types, ""),
    booked_ahead: toBookedAhead(types, days),
    compare: comparisonOf(query),
    previous: before
      ? {
          ...(toAnsweredRange(before) as { from: string; to: string }),
          totals: toTotals(types, "before_"),
          to_point_usd: toExact(sum(types.map((row) => parseDecimal(row.before_to_point)))),
        }
      : null,
    forecast_usd: forecast && toExact(forecast.total),
    forecast: toForecastDetails(forecast),
    series: toSeries(
      series,
      {
        range,
        before,
        rows: series.groupBy === "type" ? bucketsByType(sums, ofTypes, allocations) : buckets,
        earlier: sums.flatMap(({ type, bucket, before_amount: amount }) =>
          type === null && bucket !== null ? [{ ...undivided, bucket, place: null, amount }] : [],
        ),
      },
      slices.filter(({ dimension }) => dimension === series.groupBy),
      now,
    ),
    ...(Object.fromEntries(
      dimensions.map((dimension) => [
        `by_${dimension}`,
        toSlices(slices.filter((slice) => slice.dimension === dimension)),
      ]),
    ) as Pick<Metrics, `by_${Dimension}`>),
  };
}

/**
 * A tag of the figures of `readMetrics`, for an ETag: it changes when a cost is recorded, voided or priced in the days that
 * they are of, and at midnight. Names, of projects for example, are not part of it. It is read from a few rows of sums.
 * @throws ServiceError not_found
 */
export function readMetricsTag(claims: UserClaims, slug: string, query: MetricsQuery): Promise<string> {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    const range = rangeOf(query, now);
    const before = comparedRange(query, range);
    const days = {
      range,
      spent: spentWithin(range, now),
      before: before && spentWithin(before, now),
      point: undefined,
    };
    const types = await selectTypeTotals(client, { workspaceId: id, filters: query }, days);
    return tagOf(
      {
        totals: toTotals(types, ""),
        booked_ahead: toBookedAhead(types, days),
        previous: before ? { totals: toTotals(types, "before_") } : null,
      },
      now,
    );
  });
}

/** The tag that `readMetricsTag` answers, of figures that were read at `now`. */
export function tagOf({ totals, booked_ahead: ahead, previous }: TaggedFigures, now: number): string {
  const figures = [totals, ahead, previous?.totals].map((each) => Object.values(each ?? {}).map(toText));
  return `W/"${createHash("sha256")
    .update(JSON.stringify([dayOf(now), figures]))
    .digest("base64url")
    .slice(0, 22)}"`;
}

type TaggedFigures = Pick<Metrics, "totals" | "booked_ahead"> & {
  previous: Pick<NonNullable<Metrics["previous"]>, "totals"> | null;
};

const toText = (figure: number | string | ExactNumber): string =>
  figure instanceof ExactNumber ? figure.text : String(figure);

/** The totals of `loadMetrics` alone, and what is booked ahead. */
export async function loadTotals(
  client: ClientBase,
  workspaceId: string,
  { currency, ...query }: MetricsQuery,
  now: number,
): Promise<Pick<Metrics, "totals" | "booked_ahead">> {
  const range = rangeOf(query, now);
  const days = { range, spent: spentWithin(range, now), before: undefined, point: undefined };
  const load = async (scope: SpendScope) => {
    const types = await selectTypeTotals(client, scope, days);
    return { totals: toTotals(types, ""), booked_ahead: toBookedAhead(types, days) };
  };
  const scope = { workspaceId, filters: query };
  const recorded = await load(scope);
  const display = displayOf(currency);
  return display ? pairAmounts(recorded, await load({ ...scope, display })) : recorded;
}

function toBookedAhead(types: TypeTotals[], { range, spent }: ReadDays): Metrics["booked_ahead"] {
  const until = types.flatMap((row) => row.ahead_until ?? []).sort();
  const to = until.at(-1);
  if (to === undefined) return null;
  return {
    total_usd: toExact(sum(types.map((row) => parseDecimal(row.ahead_amount)))),
    from: [spent.until, range.from].sort().at(-1) ?? to,
    to,
  };
}

/** A bucket of which no part is known. */
const undivided = { allocated_in: "0", allocated_out: "0", below_zero: "0" };

/**
 * The buckets of a series that is stacked by type. There are fewer types than groups.
 * @param types largest first
 * @param allocations by project, because all allocations of a workspace come to zero
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

/** The kind under which summaries count a type: allocations and batches count as usage. */
const kindOf = (type: string | null) => (type === "subscription" || type === "expense" ? type : "usage");

function toTotals(types: TypeTotals[], when: "" | "before_"): Metrics["totals"] {
  const total = (kind?: string) =>
    toExact(
      sum(
        types
          .filter(({ type }) => kind === undefined || kindOf(type) === kind)
          .map((row) => parseDecimal(row[`${when}amount`])),
      ),
    );
  const count = (what: "messages" | "unpriced") =>
    types.reduce((all, row) => all + Number(row[`${when}${what}`]), 0);
  return {
    total_usd: total(),
    usage_usd: total("usage"),
    subscription_usd: total("subscription"),
    expense_usd: total("expense"),
    message_count: count("messages"),
    unpriced_count: count("unpriced"),
    included_usd: toExact(sum(types.map((row) => parseDecimal(row[`${when}included`])))),
  };
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

/** The largest slices, whatever their sign, listed from the highest to the lowest, and the sum of the rest. */
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

/** Forecasts a period that goes on after today. */
async function loadForecast(
  client: ClientBase,
  scope: SpendScope,
  { period, range, now }: { period: Period; range: DayRange; now: number },
  types: TypeTotals[],
): Promise<Forecast | null> {
  const today = dayOf(now);
  const isOpen = range.from <= today && today < range.until && range.until !== everything.until;
  // The latest days end with today, but what is looked for in them is not what comes.
  if (!isOpen || period.startsWith("last_")) return null;
  const usage = toUsage(await selectUsage(client, scope, usageDays(today)));
  const recorded = sum(types.flatMap((row) => [parseDecimal(row.amount), parseDecimal(row.ahead_amount)]));
  return forecastSpend({ range, today, recorded, usage });
}
