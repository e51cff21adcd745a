import type { ClientBase } from "pg";
import type { Period } from "@/lib/contract/spend/ledger-query";
import type { MetricsQuery } from "@/lib/contract/spend/metrics";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { type Decimal, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { type ComingCharge, loadComingCharges } from "@/lib/ledger/recurring/coming";
import { isSameProvider, type LedgerFilters } from "@/lib/spend/activity/filters";
import { convertComing } from "@/lib/spend/conversion";
import { type Forecast, forecastSpend, toUsage, usageDays } from "@/lib/spend/forecast";
import { everything } from "@/lib/spend/period";
import { selectUsage, type TypeTotals } from "./metrics-queries";
import type { SpendScope } from "./rows-sql";

/**
 * Forecasts a period that continues after today; null for others.
 * @param types the period's totals by type, USD
 */
export async function loadForecast(
  client: ClientBase,
  scope: SpendScope,
  {
    period,
    range,
    now,
    environment,
  }: { period: Period; range: DayRange; now: number; environment: MetricsQuery["environment"] },
  types: readonly TypeTotals[],
): Promise<Forecast | null> {
  const today = dayOf(now);
  const isOpen = range.from <= today && today < range.until && range.until !== everything.until;
  // A period of the latest days is about the past, so nothing is forecast for it.
  if (!isOpen || period === "year_to_date" || period.startsWith("last_")) return null;
  const usage = toUsage(await selectUsage(client, scope, usageDays(today)));
  const { workspaceId, filters } = scope;
  const charges = await loadComingCharges(client, { workspaceId, environment }, range.until, now);
  const coming = charges.flatMap((charge) => {
    const day = charge.at.slice(0, 10);
    return day >= range.from && day < range.until && isAskedFor(charge, filters)
      ? [{ day, amount: charge.amount }]
      : [];
  });
  return forecastSpend({ range, today, recorded: recordedOf(types), usage, coming });
}

/**
 * Converts a forecast: recorded and booked amounts day by day, expected amounts at the latest rate.
 * @param types the period's totals by type in the currency
 */
export function convertForecast(
  display: Display,
  forecast: Forecast,
  types: readonly TypeTotals[],
): Forecast {
  const recorded = recordedOf(types);
  const toCurrency = (usd: Decimal) => convertComing(display, recorded, subtract(usd, forecast.recorded));
  return {
    ...forecast,
    recorded,
    total: toCurrency(forecast.total),
    low: toCurrency(forecast.low),
    high: toCurrency(forecast.high),
    coming: convertComing(display, zero, forecast.coming),
    added: convertComing(display, zero, forecast.added),
  };
}

/** The sum of what is recorded in the period or booked on its future days. */
function recordedOf(types: readonly TypeTotals[]): Decimal {
  return sum(types.flatMap((row) => [parseDecimal(row.amount), parseDecimal(row.ahead_amount)]));
}

/** Whether a charge that is not booked yet matches some filters. It has no key, model, feature or person. */
function isAskedFor({ project, provider, source, tags }: ComingCharge, filters: LedgerFilters): boolean {
  const matches = (filter: string | null | undefined, value: string | null) =>
    filter === undefined || filter === value;
  return (
    matches(filters.project, project) &&
    matches(filters.type, "subscription") &&
    (filters.provider === undefined ||
      (filters.provider !== null && isSameProvider(filters.provider, provider))) &&
    matches(filters.source, source) &&
    [filters.key, filters.model, filters.feature, filters.user].every((filter) => matches(filter, null)) &&
    (filters.tag === undefined || (filters.tag === null ? tags.length === 0 : tags.includes(filters.tag)))
  );
}
