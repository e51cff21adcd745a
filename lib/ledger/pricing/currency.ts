import { countDecimals, type Decimal, multiply, parseDecimal, roundMoney, toText } from "./decimal";
import { currencyDecimals } from "./iso-4217";
import earlier from "./rates/earlier.json";
import shipped from "./rates/snapshot.json";

/** The rates of one day (`date`: `YYYY-MM-DD`). `rates`: currency → the USD value of one unit, as exact decimal text. */
export type RateSnapshot = { date: string; source: string; rates: Readonly<Record<string, string>> };

/** The snapshots of this build, the latest first. `npm run rates:refresh` fetches a new one and keeps those before it. */
export const shippedRates: readonly RateSnapshot[] = [shipped, ...(earlier as RateSnapshot[])];

/**
 * An amount in USD, rounded half-even to 18 decimals, with what is stored beside it: `rate` (USD per unit, decimal text),
 * the rate's day and its source. These are null for an amount that was given in USD.
 */
export type Conversion =
  | { status: "unconverted"; amountUsd: Decimal; rate: null; rateDate: null; rateSource: null }
  | { status: "converted"; amountUsd: Decimal; rate: string; rateDate: string; rateSource: string };

/** Whether a text is a supported currency: an ISO 4217 code in capitals. */
export function isCurrency(code: string): boolean {
  return currencyDecimals.has(code);
}

/** Every supported currency, in alphabetical order. */
export function listCurrencies(): string[] {
  return [...currencyDecimals.keys()].sort();
}

/**
 * What is wrong with the number of decimals of an amount, as a sentence for the caller; undefined if nothing is. An
 * amount with more decimals than its currency has is a mistake (often the wrong currency), which rounding would hide.
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
 * Converts an amount to USD at the rate of the day on which it occurred: that of the latest snapshot up to that day, or
 * of the earliest snapshot if there is none.
 * @param occurredOn the day, `YYYY-MM-DD` in UTC
 * @param snapshots in any order
 * @throws RangeError when the currency is unknown or no snapshot has it; callers check with `isCurrency` first
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
