import { displayIn } from "@/lib/ledger/pricing/display-currency";
import { rateTableOf } from "@/lib/ledger/pricing/rates/rate-table";
import { dividedBy, type Exact, exact, fine } from "./exact";

/** A rate of EUR from a day on, as exact text. */
export type DayRate = { date: string; rate: string };

/** EUR as the currency of sums, with these rates. */
export const displayOf = (given: DayRate[]) =>
  displayIn(
    "EUR",
    { from: "1999-01-01", until: "2031-01-01" },
    rateTableOf(given.map(({ date, rate }) => ({ day: date, source: "test", rates: { EUR: rate } }))),
  );

/** Amounts of the model are integer multiples of 1e-36: a product of two exact decimals. */
export const shown = (amount: unknown) =>
  fine(String((amount as { text?: string }).text ?? amount)) / 10n ** 42n;

/** USD of a day in EUR by the model: at the rate of that day, of the last day before it, or of the first. */
export function convert(usd: Exact, day: string, given: DayRate[]): bigint {
  const byDay = given.toSorted((a, b) => (a.date < b.date ? -1 : 1));
  const used = byDay.findLast(({ date }) => date <= day) ?? byDay[0];
  return usd * dividedBy(exact("1"), exact(used?.rate ?? "1"));
}

export const sumOf = (values: bigint[]) => values.reduce((sum, value) => sum + value, 0n);
