import { type RateSnapshot, shippedRates } from "./currency";
import { divideMoney, parseDecimal, toText } from "./decimal";

/**
 * A rate at which amounts of USD are shown in another currency. `perUsd`: the units of the currency for one USD, as exact
 * text. `from`: the first day it is used for, null for the first rate, which is also used for the days before its own.
 * `rateDate` and `source`: the day and the source of the snapshot.
 */
export type DisplayRate = { from: string | null; perUsd: string; rateDate: string; source: string };

/**
 * The rates of a currency, the earliest first. Each is used until the next begins; the last for all days after it. A
 * snapshot has the USD value of a unit; its inverse is rounded once, half-even, to 18 decimals, and everything computed with
 * it is exact, so that parts sum to their whole.
 * @param currency ISO 4217
 * @param snapshots in any order
 * @returns none for USD and for a currency without a rate
 */
export function displayRates(
  currency: string,
  snapshots: readonly RateSnapshot[] = shippedRates,
): DisplayRate[] {
  const one = parseDecimal(1);
  return snapshots
    .flatMap(({ date, source, rates }) => {
      const rate = Object.hasOwn(rates, currency) ? rates[currency] : undefined;
      if (rate === undefined || currency === "USD") return [];
      return [{ rateDate: date, source, perUsd: toText(divideMoney(one, parseDecimal(rate))) }];
    })
    .sort((a, b) => (a.rateDate < b.rateDate ? -1 : 1))
    .map((rate, index) => ({ from: index === 0 ? null : rate.rateDate, ...rate }));
}

/** The latest rate of a currency, for amounts that are of no day. @returns undefined for USD and without a rate */
export function latestDisplayRate(currency: string): Omit<DisplayRate, "from"> | undefined {
  const latest = displayRates(currency).at(-1);
  if (!latest) return undefined;
  const { from: _, ...rate } = latest;
  return rate;
}

/** A currency in which amounts are shown besides USD, with its rates: at least one, the earliest first. */
export type Display = { currency: string; rates: DisplayRate[] };

/** @returns undefined for USD and for a currency without a rate */
export function displayIn(
  currency: string,
  snapshots: readonly RateSnapshot[] = shippedRates,
): Display | undefined {
  const rates = displayRates(currency, snapshots);
  return rates.length > 0 ? { currency, rates } : undefined;
}
