import type { ClientBase } from "pg";
import { type Row, text, uuid } from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

/** Folds past days of one workspace. @returns the number of sums; null where nothing is left to fold */
export function foldPastDays(client: ClientBase): Promise<number | null> {
  return callFunction(client, "private.fold_past_days");
}

const monthRow = { workspace_id: uuid(), month: text() };

/** A month of a workspace, by its first day. */
type MonthRow = Row<typeof monthRow>;

/** The months whose slices are to be made. */
export function selectMonthsToSlice(client: ClientBase): Promise<MonthRow[]> {
  return selectAll(
    client,
    monthRow,
    sql`select workspace_id, month::text as month from private.months_to_slice()`,
  );
}

/** Announces that the slices of a month will be made, in an earlier transaction than `sliceMonth`. */
export async function claimMonth(client: ClientBase, { workspace_id, month }: MonthRow): Promise<void> {
  await callFunction(client, "private.claim_month_to_slice", workspace_id, month);
}

/** The fewest sums of a month that are worth slices, and the most whose slices are made within a job's time limit. */
const leastSums = 3_000;
const mostSums = 250_000;

/** How many sums of a month there are at least for each row of a slice. */
const leastRatio = 2;

/** Makes the slices of a claimed month. @returns the number of their rows; 0 also where the month was changed meanwhile */
export function sliceMonth(client: ClientBase, { workspace_id, month }: MonthRow): Promise<number> {
  return callFunction(
    client,
    "private.slice_month",
    ...[workspace_id, month, leastSums, mostSums, leastRatio],
  );
}
