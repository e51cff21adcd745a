import { divideMoney, parseDecimal, toText } from "@/lib/decimal";
import { presentRates } from "./rates/present";
import { type FoundRate, findRate, type RateBook } from "./rates/rate-book";

/**
 * A rate at which amounts of USD are shown in another currency. `perUsd`: the units of the currency for one USD, as exact
 * text. `from`: the first day it is used for, null for the first rate, which is also used for the days before.
 * `rateDate` and `source`: the day and the source of the rate.
 */
export type DisplayRate = { from: string | null; perUsd: string; rateDate: string; source: string };

/** Days, `until` not included, of which rates are wanted. */
export type RateDays = { from: string; until: string };

/** The rates of a year take some milliseconds, and are asked for with every page. By book, currency and days. */
const computed = new WeakMap<RateBook, Map<string, DisplayRate[]>>();
const maxComputed = 200;

const dayMs = 86_400_000;
const dayText = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);

/**
 * The rates of a currency for some days, the earliest first: each day has the rate that a cost of this day is converted at
 * (`findRate`). Each is used until the next begins; the last for all days after it. A rate is the USD value of a unit; its
 * inverse is rounded once, half-even, to 18 decimals, and everything computed with it is exact, so that parts sum to their whole.
 * @param currency ISO 4217
 * @returns none for USD and for a currency without a rate
 */
export function displayRates(
  currency: string,
  { from, until }: RateDays,
  book: RateBook = presentRates(),
): DisplayRate[] {
  if (currency === "USD") return [];
  const name = `${currency} ${from} ${until}`;
  const known = computed.get(book) ?? new Map<string, DisplayRate[]>();
  if (known.size > maxComputed) known.clear();
  computed.set(book, known);
  const rates = known.get(name) ?? computeRates(currency, { from, until }, book);
  known.set(name, rates);
  return rates;
}

function computeRates(currency: string, { from, until }: RateDays, book: RateBook): DisplayRate[] {
  const rates: DisplayRate[] = [];
  let before: FoundRate | undefined;
  for (let at = Date.parse(from); at === Date.parse(from) || at < Date.parse(until); at += dayMs) {
    const day = dayText(at);
    const found = findRate(book, currency, day);
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
 * The rate of a currency on a day, for amounts that are of no day; `isOld` where it is more than a week old.
 * @returns undefined for USD and without a rate
 */
export function latestDisplayRate(
  currency: string,
  today: string,
): (Omit<DisplayRate, "from"> & { isOld: boolean }) | undefined {
  const found = currency === "USD" ? undefined : findRate(presentRates(), currency, today);
  return found && { ...inverseOf(found), isOld: found.isOld };
}

/** A currency in which amounts are shown besides USD, with its rates: at least one, the earliest first. */
export type Display = { currency: string; rates: DisplayRate[] };

/** @returns undefined for USD and for a currency without a rate */
export function displayIn(
  currency: string,
  days: RateDays,
  book: RateBook = presentRates(),
): Display | undefined {
  const rates = displayRates(currency, days, book);
  return rates.length > 0 ? { currency, rates } : undefined;
}
