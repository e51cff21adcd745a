import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { text } from "@/lib/db/columns";
import { selectFirst } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import { addMonthStart, everything } from "./period";

/**
 * A range divided for reading. Sums and totals of past days are also kept by month (`monthly_spend`, `monthly_totals`), so that a
 * read of a long range has fewer rows to sum.
 */
export type Folds = {
  /** The first days of the months that are read from the folded sums; undefined if there are none. */
  folded: DayRange | undefined;
  /** The remaining days, which are read one by one. */
  days: DayRange[];
};

/** The day before which a workspace's days are folded, `YYYY-MM-DD`; null if none are. */
export async function selectFoldedUntil(client: ClientBase, workspaceId: string): Promise<string | null> {
  const row = await selectFirst(
    client,
    { day: text() },
    sql`select folded_until::text as day from public.spend_folds where workspace_id = ${workspaceId}`,
  );
  return row?.day ?? null;
}

/**
 * Divides a range into folded months and days. A month is read folded if all of its folded days are in the range.
 * @param foldedUntil the day before which sums are folded; null if none are, or if each day needs its own row
 */
export function divideAtFolds(range: DayRange, foldedUntil: string | null): Folds {
  if (foldedUntil === null) return { folded: undefined, days: [range] };
  const isWhole = range.from === everything.from || startOfMonth(range.from) === range.from;
  const from = isWhole ? range.from : addMonthStart(range.from, 1);
  const until = foldedUntil <= range.until ? foldedUntil : startOfMonth(range.until);
  if (until <= from) return { folded: undefined, days: [range] };
  const days = [
    { from: range.from, until: from },
    { from: until, until: range.until },
  ];
  return { folded: { from, until }, days: days.filter((part) => part.from < part.until) };
}

/** The first day of a day's month. */
export const startOfMonth = (day: string): string => addMonthStart(day, 0);

/**
 * The rows of a divided range, days first: their select names the columns of the union.
 * @param ofDays selects the rows of days in a range
 * @param ofFolded selects the same columns of folded rows whose first day is in a range
 */
export function rowsOfFolds(
  { folded, days }: Folds,
  ofDays: (range: DayRange) => Sql,
  ofFolded: (range: DayRange) => Sql,
): Sql {
  const nothing = { from: "infinity", until: "infinity" };
  return join(
    [...(days.length > 0 ? days : [nothing]).map(ofDays), ...(folded ? [ofFolded(folded)] : [])],
    " union all ",
  );
}

/** A table of totals: its name, the column of a row's first day, and whether its rows are of folded days. */
export type TotalsTable = { name: Sql; day: Sql; isFolded: Sql };

const byDay: TotalsTable = { name: sql`public.daily_totals`, day: sql`day`, isFolded: sql`false` };
const byMonth: TotalsTable = { name: sql`public.monthly_totals`, day: sql`first_day`, isFolded: sql`true` };

/**
 * The totals of a range in as few rows as possible: those of folded months, and of the remaining days.
 * @param foldedUntil see `divideAtFolds`
 * @param select selects the same columns of either table, for the rows whose first day is in a range
 */
export function rowsOfTotals(
  range: DayRange,
  foldedUntil: string | null,
  select: (table: TotalsTable, range: DayRange) => Sql,
): Sql {
  return rowsOfFolds(
    divideAtFolds(range, foldedUntil),
    (days) => select(byDay, days),
    (folded) => select(byMonth, folded),
  );
}
