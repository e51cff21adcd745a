import { currencyDecimals } from "@/lib/currencies";
import { countDecimals, type Decimal, multiply, parseDecimal, roundMoney, toText } from "@/lib/decimal";
import { findRate, type RateTable } from "@/lib/ledger/pricing/rates/rate-table";
import { presentRates } from "./rates/present";

/**
 * An amount in USD, rounded half-even to 18 decimals, with its exchange rate: `rate` is USD per unit as decimal text, `isOld` says that
 * `rateDate` is more than a week from the day of the amount. The fields of the rate are null for an amount in USD.
 */
export type Conversion =
  | { status: "unconverted"; amountUsd: Decimal; rate: null; rateDate: null; rateSource: null; isOld: null }
  | {
      status: "converted";
      amountUsd: Decimal;
      rate: string;
      rateDate: string;
      rateSource: string;
      isOld: boolean;
    };

/**
 * Checks the number of decimals of an amount. An amount with more decimals than its currency has is a mistake (often the wrong
 * currency), which rounding would hide.
 * @returns the problem as a sentence for the caller, or undefined
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
 * Converts an amount to USD at the rate of the day on which it occurred; see `findRate`.
 * @param occurredOn the day, `YYYY-MM-DD` in UTC
 * @throws RangeError if the currency is unknown (callers check with `isCurrency` first) or has no rate
 */
export function convert(
  amount: Decimal,
  currency: string,
  occurredOn: string,
  table: RateTable = presentRates(),
): Conversion {
  decimalsOf(currency);
  if (currency === "USD") {
    return {
      status: "unconverted",
      amountUsd: roundMoney(amount),
      rate: null,
      rateDate: null,
      rateSource: null,
      isOld: null,
    };
  }
  const found = findRate(table, currency, occurredOn);
  if (!found) throw new RangeError(`There is no exchange rate for ${shorten(currency)}`);
  const { rate, date, source, isOld } = found;
  return {
    status: "converted",
    amountUsd: roundMoney(multiply(amount, parseDecimal(rate))),
    rate,
    rateDate: date,
    rateSource: source,
    isOld,
  };
}

function decimalsOf(currency: string): number {
  const decimals = currencyDecimals.get(currency);
  if (decimals === undefined) throw new RangeError(`${shorten(currency)} is not an ISO 4217 currency`);
  return decimals;
}

const shorten = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
