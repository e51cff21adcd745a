import { divideMoney, parseDecimal, toText } from "@/lib/decimal";
import { type FoundRate, findRate, type RateTable } from "@/lib/ledger/pricing/rates/rate-table";
import { presentRates } from "./rates/present";

/**
 * A rate at which amounts in USD are shown in another currency. `perUsd`: units of the currency for one USD, exact text. `from`: the
 * first day that it applies to; null for the first rate, which also applies to all earlier days. `rateDate` and `source`: the day and
 * the source of the rate.
 */
export type DisplayRate = { from: string | null; perUsd: string; rateDate: string; source: string };

/** A range of days, `YYYY-MM-DD`, without `until`. */
export type RateDays = { from: string; until: string };

/** A cache by book, currency and days: computing the rates of a year takes some milliseconds, and every page needs them. */
const computed = new WeakMap<RateTable, Map<string, DisplayRate[]>>();
const maxComputed = 200;

const dayMs = 86_400_000;
const dayText = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);

/**
 * The rates of a currency for a range of days, earliest first. Each day has the rate at which a cost of that day is converted
 * (`findRate`). A rate applies until the next one begins, the last one to all later days. `perUsd` is the inverse of the stored rate,
 * rounded once, half-even, to 18 decimals; everything computed with it is exact, so that parts sum to their whole.
 * @param currency ISO 4217
 * @returns none for USD and for a currency without a rate
 */
export function displayRates(
  currency: string,
  { from, until }: RateDays,
  table: RateTable = presentRates(),
): DisplayRate[] {
  if (currency === "USD") return [];
  const name = `${currency} ${from} ${until}`;
  const known = computed.get(table) ?? new Map<string, DisplayRate[]>();
  if (known.size > maxComputed) known.clear();
  computed.set(table, known);
  const rates = known.get(name) ?? computeRates(currency, { from, until }, table);
  known.set(name, rates);
  return rates;
}

function computeRates(currency: string, { from, until }: RateDays, table: RateTable): DisplayRate[] {
  const rates: DisplayRate[] = [];
  let before: FoundRate | undefined;
  for (let at = Date.parse(from); at === Date.parse(from) || at < Date.parse(until); at += dayMs) {
    const day = dayText(at);
    const found = findRate(table, currency, day);
    if (!found) return [];
    if (found.date !== before?.date || found.source !== before.source)
      rates.push({ from: before ? day : null, ...inverseOf(found) });
    before = found;
  }
  return rates;
}

const inverseOf = ({ rate, date, source }: FoundRate) => ({
  perUsd: toText(divideMoney(parseDecimal("1"), parseDecimal(rate))),
  rateDate: date,
  source,
});

/**
 * The rate of a currency today, for amounts that do not belong to a day, such as a budget. `isOld`: it is more than a week old.
 * @param today `YYYY-MM-DD`
 * @returns undefined for USD and for a currency without a rate
 */
export function latestDisplayRate(
  currency: string,
  today: string,
): (Omit<DisplayRate, "from"> & { isOld: boolean }) | undefined {
  const found = currency === "USD" ? undefined : findRate(presentRates(), currency, today);
  return found && { ...inverseOf(found), isOld: found.isOld };
}

/** A currency in which amounts are shown besides USD, with at least one rate, earliest first. */
export type Display = { currency: string; rates: DisplayRate[] };

/** @returns undefined for USD and for a currency without a rate */
export function displayIn(
  currency: string,
  days: RateDays,
  table: RateTable = presentRates(),
): Display | undefined {
  const rates = displayRates(currency, days, table);
  return rates.length > 0 ? { currency, rates } : undefined;
}
