import type { ComparedStretch } from "@/lib/contract/spend/spend-comparison";
import type { SpendAnswer, SpendQuery } from "@/lib/contract/spend/spend-query";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { DayRange } from "@/lib/contract/values/month";
import type { UserClaims } from "@/lib/db/transaction";
import { addDays, addMonthStart, everything } from "@/lib/spend/period";
import { sumHistory, sumToPoint } from "./add-history";
import { type HistoryDay, isCounted, isWithin, readHistory } from "./history";
import { providerKeyOf } from "./read-row";

/**
 * The billed history of some days, for members: of the providers that the query filters by.
 * @param range all days by default
 * @throws ServiceError not_found
 */
export async function readHistoryOfQuery(
  claims: UserClaims,
  slug: string,
  { filters, currency }: Pick<SpendQuery, "filters" | "currency">,
  range: DayRange = everything,
): Promise<HistoryDay[]> {
  return ofProviders(await readHistory(claims, slug, range, currency), filters);
}

/** The first of these days, from which a query of all time is to cover; undefined without any. */
export const firstDayOf = (days: readonly HistoryDay[]): string | undefined =>
  days.map(({ day }) => day).sort()[0];

/** The days of an answer and those that it is compared with, as one range. */
export function rangeOfAnswer(
  { from, to }: Pick<SpendAnswer, "from" | "to">,
  stretch: ComparedStretch | null,
): DayRange {
  return {
    from: stretch && stretch.from < from ? stretch.from : from,
    until: addDays(stretch && stretch.to > to ? stretch.to : to, 1),
  };
}

/** The days within a range. */
export const daysWithin = (days: readonly HistoryDay[], range: DayRange): HistoryDay[] =>
  days.filter(({ day }) => isWithin(day, range));

/** The days of the providers that a query filters by. */
function ofProviders(days: readonly HistoryDay[], filters: SpendQuery["filters"]): HistoryDay[] {
  return days.filter(({ provider }) =>
    filters.every(({ op, values }) => {
      const isNamed = values.some((value) => value !== null && providerKeyOf(value) === provider);
      return (op === "is") === isNamed;
    }),
  );
}

/**
 * The sums of history of an answer: of its days, of each of its columns, and of the days compared with. `isCounted`: whether the answer is
 * to have it, by default where nothing was recorded of a provider yet.
 */
export function toHistory(
  days: readonly HistoryDay[],
  { from, to, columns }: SpendAnswer,
  { stretch, choice }: { stretch: ComparedStretch | null; choice: "on" | "off" | undefined },
): { total: ExactNumber; ofColumns: ExactNumber[]; before: ExactNumber; isCounted: boolean } {
  const until = addDays(to, 1);
  const total = sumHistory(days, { from, until });
  const ends = { day: (day: string) => addDays(day, 1), week: (day: string) => addDays(day, 7) };
  const endOf = (first: string) =>
    columns.dimension === "day" || columns.dimension === "week"
      ? ends[columns.dimension](first)
      : addMonthStart(first, 1);
  const ofColumns = columns.groups.map(({ value }) => {
    if (value === null) return total;
    const [end] = [endOf(value), until].sort();
    return sumHistory(days, { from: value < from ? from : value, until: end ?? until });
  });
  return { total, ofColumns, before: sumToPoint(days, stretch), isCounted: isCounted(days, choice) };
}
