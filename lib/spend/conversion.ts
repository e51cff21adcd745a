import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import type { DayRange } from "@/lib/contract/values/month";
import { type Sql, sql } from "@/lib/db/sql";
import { add, type Decimal, multiply, parseDecimal } from "@/lib/decimal";
import { validationFailed } from "@/lib/errors";
import { type Display, displayIn } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { followPublished } from "@/lib/ledger/published/follow";
import { addDays } from "./period";

/** No cost is of an earlier day. */
const firstDay = "2000-01-01";

/** The days whose rates a query needs: its ranges of days, today, and where a range has no beginning, the first day with a cost. */
export type ConvertedDays = {
  ranges: readonly (DayRange | undefined)[];
  today: string;
  first?: string | undefined;
};

/**
 * The currency in which a query wants its sums besides USD, with the rates of its days. Days to come have the rate of today.
 * @param currency ISO 4217, as queries have it
 * @param path the field that has it, which a refusal names
 * @returns undefined where it wants none, or USD
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
 * The sum of amounts in USD in the currency, each converted at the rate of its day. With a single rate it is that of the whole.
 * @param day of the type date
 */
export function convertedSum(display: Display, amount: Sql, day: Sql): Sql {
  return display.rates.length === 1
    ? convertedAt(display, sql`sum(${amount})`, day)
    : sql`sum(${convertedAt(display, amount, day)})`;
}

/**
 * An amount in USD of a day, in the currency: exact, so that sums of it are those of the days.
 * @param day of the type date
 */
export function convertedAt({ rates }: Display, amount: Sql, day: Sql): Sql {
  const [first] = rates;
  if (first && rates.length === 1) return sql`${amount} * ${first.perUsd}::numeric`;
  const from = rates.map((rate) => rate.from ?? "-infinity");
  // Postgres finds an element of a JSON array at once, and one of an array of numerics by passing all before it.
  const perUsd = JSON.stringify(rates.map((rate) => rate.perUsd));
  return sql`${amount} * (${perUsd}::jsonb ->> (width_bucket(${day}, ${from}::date[]) - 1))::numeric`;
}

/**
 * What an amount comes to in the currency of which a part is converted already and the rest is of coming days: those are
 * converted at the latest rate.
 */
export function convertComing({ rates }: Display, converted: Decimal, coming: Decimal): Decimal {
  return add(converted, multiply(coming, parseDecimal(rates.at(-1)?.perUsd ?? "0")));
}

/**
 * Adds to each amount of an answer, which are the fields named `…_usd`, what it is in another currency.
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
    // Where one has an element that the other lacks, no two belong together.
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

/** An amount of an answer in the other currency, as answers have it. */
export function convertedAmount(amount: ExactNumber | number): ExactNumber | number {
  return amount instanceof ConvertedNumber ? new ExactNumber(amount.converted) : amount;
}

/** The currency and the rates of a conversion, as answers have them. */
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
