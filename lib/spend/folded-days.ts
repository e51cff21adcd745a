import type { ClientBase } from "pg";
import type { DayRange } from "@/lib/contract/values/month";
import { text } from "@/lib/db/columns";
import { selectFirst } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import { addMonthStart, everything } from "./period";

/**
 * Past days are folded: their sums are kept by month (`monthly_spend`), and their totals (`monthly_totals`), so that a read of a long
 * range has fewer rows to sum.
 */
export type Folds = {
  /** What is read from the folded sums, by the first day of a month; undefined for nothing. */
  folded: DayRange | undefined;
  /** What is left to read day by day. */
  days: DayRange[];
};

/** The day before which a workspace's days are folded, `YYYY-MM-DD`; null where none are. */
export async function selectFoldedUntil(client: ClientBase, workspaceId: string): Promise<string | null> {
  const row = await selectFirst(
    client,
    { day: text() },
    sql`select folded_until::text as day from public.spend_folds where workspace_id = ${workspaceId}`,
  );
  return row?.day ?? null;
}

/**
 * Divides a range into folded months and days. A month is read folded where all of its folded days are in the range.
 * @param foldedUntil the day before which sums are folded; null where none are, or where each day needs a row of its own
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
 * The rows of the divided range, those of days first: their columns name all.
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
 * The totals of a range in as few rows as there are: of folded months, and of the days left.
 * @param foldedUntil see `divideAtFolds`
 * @param select selects the same columns of each table, of the rows whose first day is in a range
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
