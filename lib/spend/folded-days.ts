import type { ClientBase } from "pg";
import { dayOf } from "@/lib/contract/instant";
import type { DayRange } from "@/lib/contract/month";
import { text } from "@/lib/db/columns";
import { selectFirst } from "@/lib/db/query";
import { join, type Sql, sql } from "@/lib/db/sql";
import { addMonthStart, everything } from "./period";

/**
 * Past days are folded: their sums are kept by month (`monthly_spend`) and by week within a month (`weekly_totals`), so that
 * a read of a long range has fewer rows to sum. See docs/decisions/0255-fold-past-days.md.
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
export function startOfWeekInMonth(day: string): string {
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
  const nothing = { from: "infinity", until: "infinity" };
  const parts = (days.length > 0 ? days : [nothing]).map(ofDays);
  return join(folded === undefined ? parts : [...parts, ofFolded(folded)], " union all ");
}
