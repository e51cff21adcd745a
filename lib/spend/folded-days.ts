import type { ClientBase } from "pg";
import { dayOf } from "@/lib/contract/instant";
import type { DayRange } from "@/lib/contract/month";
import { text } from "@/lib/db/columns";
import { selectFirst } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import { addMonthStart, everything } from "./period";

/**
 * Past days are folded: their sums are kept by month (`monthly_spend`), their totals by month (`monthly_totals`) and by week within a
 * month (`weekly_totals`), so that a read of a long range has fewer rows to sum. See docs/decisions/0255-fold-past-days.md and
 * 0260-fold-totals-by-month.md.
 */
export type Folds = {
  /** What is read from the folded sums, by the first day of a month or week; undefined for nothing. */
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
 * Divides a range into folded parts and days. A part of the calendar is read folded where all of its folded days are in the range.
 * @param startOf the first day of the month, or of the week within a month, that has a day
 */
export function divideAtFolds(
  range: DayRange,
  foldedUntil: string | null,
  startOf: (day: string) => string,
): Folds {
  if (foldedUntil === null) return { folded: undefined, days: [range] };
  const isWhole = range.from === everything.from || startOf(range.from) === range.from;
  const from = isWhole ? range.from : nextStart(range.from, startOf);
  const until = foldedUntil <= range.until ? foldedUntil : startOf(range.until);
  if (until <= from) return { folded: undefined, days: [range] };
  const days = [
    { from: range.from, until: from },
    { from: until, until: range.until },
  ];
  return { folded: { from, until }, days: days.filter((part) => part.from < part.until) };
}

/** The first day of a day's month. */
export const startOfMonth = (day: string): string => addMonthStart(day, 0);

/** The first day of the part of a day's week that is in its month. Weeks begin on Monday. */
function startOfWeekInMonth(day: string): string {
  const mondayMs = Date.parse(day) - ((new Date(day).getUTCDay() + 6) % 7) * dayMs;
  return dayOf(Math.max(mondayMs, Date.parse(startOfMonth(day))));
}

const dayMs = 86_400_000;

function nextStart(day: string, startOf: (day: string) => string): string {
  const here = startOf(day);
  let next = day;
  while (startOf(next) === here) next = dayOf(Date.parse(next) + dayMs);
  return next;
}

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
  return union(days.map(ofDays), folded === undefined ? [] : [ofFolded(folded)], ofDays);
}

/** A table of totals: its name, the column of a row's first day, and whether its rows are of folded days. */
export type TotalsTable = { name: Sql; day: Sql; isFolded: Sql };

const byDay: TotalsTable = { name: sql`public.daily_totals`, day: sql`day`, isFolded: sql`false` };
const byWeek: TotalsTable = { name: sql`public.weekly_totals`, day: sql`first_day`, isFolded: sql`true` };
const byMonth: TotalsTable = { name: sql`public.monthly_totals`, day: sql`first_day`, isFolded: sql`true` };

/**
 * The totals of a range in as few rows as there are: of whole months, of the weeks left, and of the days left.
 * @param longest the longest part of the calendar whose rows may be read
 * @param select selects the same columns of each table, of the rows whose first day is in a range
 */
export function rowsOfTotals(
  range: DayRange,
  foldedUntil: string | null,
  longest: "day" | "week" | "month",
  select: (table: TotalsTable, range: DayRange) => Sql,
): Sql {
  const months = divideAtFolds(range, longest === "month" ? foldedUntil : null, startOfMonth);
  const rest = months.days.map((part) =>
    divideAtFolds(part, longest === "day" ? null : foldedUntil, startOfWeekInMonth),
  );
  const ofDays = (days: DayRange) => select(byDay, days);
  return union(
    rest.flatMap(({ days }) => days.map(ofDays)),
    [
      ...rest.flatMap(({ folded }) => (folded ? [select(byWeek, folded)] : [])),
      ...(months.folded ? [select(byMonth, months.folded)] : []),
    ],
    ofDays,
  );
}

/** All rows together; those of no day come first where there are none of days. */
function union(ofDays: Sql[], ofFolded: Sql[], select: (range: DayRange) => Sql): Sql {
  const nothing = { from: "infinity", until: "infinity" };
  return join([...(ofDays.length > 0 ? ofDays : [select(nothing)]), ...ofFolded], " union all ");
}
