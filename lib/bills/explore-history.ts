import type { ComparedStretch } from "@/lib/contract/spend/spend-comparison";
import type { SpendAnswer, SpendQuery } from "@/lib/contract/spend/spend-query";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { UserClaims } from "@/lib/db/transaction";
import { addDays, addMonthStart, everything } from "@/lib/spend/period";
import { sumHistory, sumToPoint } from "./add-history";
import { type HistoryDay, isCounted, readHistory } from "./history";
import { providerKeyOf } from "./read-row";

/**
 * The billed history of the days of an answer, and of those that it is compared with, for members: of the providers that the query filters by.
 * @throws ServiceError not_found
 */
export async function readHistoryOfAnswer(
  claims: UserClaims,
  slug: string,
  { filters, currency }: Pick<SpendQuery, "filters" | "currency">,
  { answer, stretch }: { answer: Pick<SpendAnswer, "from" | "to">; stretch: ComparedStretch | null },
): Promise<HistoryDay[]> {
  const from = stretch && stretch.from < answer.from ? stretch.from : answer.from;
  const until = addDays(stretch && stretch.to > answer.to ? stretch.to : answer.to, 1);
  return ofProviders(await readHistory(claims, slug, { from, until }, currency), filters);
}

/**
 * The first day of billed history, from which a query of all time is to cover, for members; undefined without history.
 * @throws ServiceError not_found
 */
export async function readFirstHistoryDay(
  claims: UserClaims,
  slug: string,
  { filters }: Pick<SpendQuery, "filters">,
): Promise<string | undefined> {
  const days = ofProviders(await readHistory(claims, slug, everything), filters);
  return days.map(({ day }) => day).sort()[0];
}

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
