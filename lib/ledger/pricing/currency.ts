import { countDecimals, type Decimal, multiply, parseDecimal, roundMoney, toText } from "./decimal";
import { currencyDecimals } from "./iso-4217";
import shipped from "./rates/snapshot.json";

/** The rates of one day. `date` is `YYYY-MM-DD`; `rates` maps a currency to the USD one unit of it is worth, as exact decimal text. */
export type RateSnapshot = { date: string; source: string; rates: Readonly<Record<string, string>> };

/** The snapshot of this build; `npm run rates:refresh` makes a new one. */
export const shippedRates: readonly RateSnapshot[] = [shipped];

/**
 * An amount in USD, half-even at 18 decimals, with what must be stored with it: `rate` (USD per unit, decimal text),
 * its day, and its source. An amount in USD has none of them.
 */
export type Conversion =
  | { status: "unconverted"; amountUsd: Decimal; rate: null; rateDate: null; rateSource: null }
  | { status: "converted"; amountUsd: Decimal; rate: string; rateDate: string; rateSource: string };

/** Whether the text is a supported currency: an ISO 4217 code in capitals. Anything else is a validation error. */
export function isCurrency(code: string): boolean {
  return currencyDecimals.has(code);
}

/** Every supported currency, in alphabetical order. */
export function listCurrencies(): string[] {
  return [...currencyDecimals.keys()].sort();
}

/**
 * The problem with an amount's number of decimals, as a sentence for the caller, or undefined. There is no half yen:
 * an amount finer than its currency is a mistake (often the wrong currency), which rounding would hide.
 * @throws RangeError for an unknown currency
 */
export function currencyDecimalsIssue(amount: Decimal, currency: string): string | undefined {
  const allowed = decimalsOf(currency);
  const given = countDecimals(amount);
  if (given <= allowed) return undefined;
  const rule =
    allowed === 0
      ? `amounts in ${currency} have no decimals`
      : `amounts in ${currency} have at most ${allowed} decimals`;
  return `${rule}, and ${shorten(toText(amount))} has ${given}`;
}

/**
 * Converts an amount to USD at the rate of the day it occurred: the latest snapshot not after it, else the earliest
 * one.
 * @param occurredOn the day, `YYYY-MM-DD` in UTC
 * @param snapshots in any order
 * @throws RangeError when the currency is unknown or no snapshot has it; callers validate with `isCurrency` before
 */
export function convert(
  amount: Decimal,
  currency: string,
  occurredOn: string,
  snapshots: readonly RateSnapshot[] = shippedRates,
): Conversion {
  decimalsOf(currency);
  if (currency === "USD") {
    return {
      status: "unconverted",
      amountUsd: roundMoney(amount),
      rate: null,
      rateDate: null,
      rateSource: null,
    };
  }
  const snapshot = chooseSnapshot(currency, occurredOn, snapshots);
  const rate = snapshot?.rates[currency];
  if (!snapshot || rate === undefined)
    throw new RangeError(`There is no exchange rate for ${shorten(currency)}`);
  return {
    status: "converted",
    amountUsd: roundMoney(multiply(amount, parseDecimal(rate))),
    rate,
    rateDate: snapshot.date,
    rateSource: snapshot.source,
  };
}

function chooseSnapshot(currency: string, occurredOn: string, snapshots: readonly RateSnapshot[]) {
  let best: RateSnapshot | undefined;
  for (const snapshot of snapshots) {
    if (!Object.hasOwn(snapshot.rates, currency)) continue;
    if (!best || isBetter(snapshot.date, best.date, occurredOn)) best = snapshot;
  }
  return best;
}

function isBetter(candidate: string, best: string, occurredOn: string): boolean {
  if (best > occurredOn) return candidate < best;
  return candidate <= occurredOn && candidate > best;
}

function decimalsOf(currency: string): number {
  const decimals = currencyDecimals.get(currency);
  if (decimals === undefined) throw new RangeError(`${shorten(currency)} is no ISO 4217 currency`);
  return decimals;
}

const shorten = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
