import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import type { DayRange } from "@/lib/contract/values/month";
import { type Sql, sql } from "@/lib/db/sql";
import { add, type Decimal, multiply, parseDecimal } from "@/lib/decimal";
import { validationFailed } from "@/lib/errors";
import { type Display, displayIn } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { followPublished } from "@/lib/ledger/published/follow";
import { addDays } from "./period";

/** The earliest day that a cost can have. */
const firstDay = "2000-01-01";

/** The days whose rates a query needs: its ranges, today, and for a range without a beginning, the first day with a cost. */
export type ConvertedDays = {
  ranges: readonly (DayRange | undefined)[];
  today: string;
  first?: string | undefined;
};

/**
 * The currency in which a query asks for sums besides USD, with the rates of its days. Future days have today's rate.
 * @param currency ISO 4217, from the query
 * @param path the query's field, which an error names
 * @returns undefined if the currency is undefined or USD
 * @throws ServiceError validation_failed for a currency without a rate
 */
export async function displayOf(
  currency: string | undefined,
  { ranges, today, first = firstDay }: ConvertedDays,
  path = "query.currency",
): Promise<Display | undefined> {
  if (currency === undefined || currency === "USD") return undefined;
  await followPublished();
  const days = ranges.filter((range) => range !== undefined);
  const tomorrow = addDays(today, 1);
  const from = days.map((range) => (range.from < firstDay ? first : range.from)).sort()[0] ?? today;
  const last = days
    .map((range) => range.until)
    .sort()
    .at(-1);
  const until = [last ?? tomorrow, tomorrow].sort()[0] ?? tomorrow;
  const display = displayIn(currency, { from: from < tomorrow ? from : today, until });
  if (display) return display;
  throw validationFailed([{ path, message: "must be a currency code of ISO 4217, like USD or EUR" }]);
}

/**
 * Sums USD amounts in the currency, each converted at the rate of its day. With a single rate, the sum is converted as a whole.
 * @param day of the type date
 */
export function convertedSum(display: Display, amount: Sql, day: Sql): Sql {
  return display.rates.length === 1
    ? convertedAt(display, sql`sum(${amount})`, day)
    : sql`sum(${convertedAt(display, amount, day)})`;
}

/**
 * Converts a USD amount at the rate of its day, without rounding, so that sums of amounts equal the sums of days.
 * @param day of the type date
 */
export function convertedAt({ rates }: Display, amount: Sql, day: Sql): Sql {
  const [first] = rates;
  if (first && rates.length === 1) return sql`${amount} * ${first.perUsd}::numeric`;
  const from = rates.map((rate) => rate.from ?? "-infinity");
  // Postgres finds an element of a JSON array directly, but walks an array of numerics from its start.
  const perUsd = JSON.stringify(rates.map((rate) => rate.perUsd));
  return sql`${amount} * (${perUsd}::jsonb ->> (width_bucket(${day}, ${from}::date[]) - 1))::numeric`;
}

/**
 * Adds to a converted amount one in USD of future days, converted at the latest rate.
 */
export function convertComing({ rates }: Display, converted: Decimal, coming: Decimal): Decimal {
  return add(converted, multiply(coming, parseDecimal(rates.at(-1)?.perUsd ?? "0")));
}

/**
 * Adds to each amount of an answer (the fields named `…_usd`) the same amount in another currency.
 * @param converted the same answer with amounts in that currency, with the same elements in the same order
 * @param others the names of other fields that are amounts
 */
export function pairAmounts<Answer>(
  recorded: Answer,
  converted: Answer,
  others: string[] = [],
  name = "",
): Answer {
  if (recorded instanceof ExactNumber && converted instanceof ExactNumber) {
    const isAmount = name.endsWith("_usd") || others.includes(name);
    return (isAmount ? new ConvertedNumber(recorded.text, converted.text) : recorded) as Answer;
  }
  if (Array.isArray(recorded) && Array.isArray(converted)) {
    // If the lengths differ, elements cannot be matched by their place.
    if (recorded.length !== converted.length) return recorded;
    return recorded.map((each, index) => pairAmounts(each, converted[index], others, name)) as Answer;
  }
  if (typeof recorded !== "object" || recorded === null || typeof converted !== "object") return recorded;
  return Object.fromEntries(
    Object.entries(recorded).map(([field, value]) => [
      field,
      pairAmounts(value, (converted as Record<string, unknown>)[field], others, field),
    ]),
  ) as Answer;
}

/** The amount in the other currency that a response shows for an amount. */
export function convertedAmount(amount: ExactNumber | number): ExactNumber | number {
  return amount instanceof ConvertedNumber ? new ExactNumber(amount.converted) : amount;
}

/** The currency and the rates of a conversion, in the form of the response. */
export function toConversion({ currency, rates }: Display) {
  return {
    currency,
    rates: rates.map(({ from, perUsd, rateDate, source }) => ({
      from,
      per_usd: toExact(parseDecimal(perUsd)),
      rate_date: rateDate,
      source,
    })),
  };
}
