import type { ClientBase } from "pg";
import { deadlines } from "@/lib/db/deadlines";
import { asService, isContention } from "@/lib/db/transaction";
import { claimMonth, foldPastDays, selectMonthsToSlice, sliceMonth } from "./queries";

/**
 * Sums past days by month and by week until none are left, then makes the slices of months; see
 * docs/decisions/0255-fold-past-days.md and 0262-slice-folded-months.md. Safe to run in every process, and to be killed: each
 * transaction is about one month of a workspace at most.
 * @returns how many sums were made
 */
export async function runFolding(): Promise<number> {
  let total = 0;
  for (;;) {
    const folded = await asJob(foldPastDays);
    if (folded === null) break;
    total += folded;
  }
  // Each month once a run, however often late messages change it meanwhile.
  for (const month of await asService(selectMonthsToSlice, deadlines.job)) {
    await asJob((client) => claimMonth(client, month));
    total += await asJob((client) => sliceMonth(client, month));
  }
  return total;
}

/** Runs a step in a transaction. @returns 0 where others were in its way: it is left to be done */
function asJob<T>(step: (client: ClientBase) => Promise<T>): Promise<T | number> {
  return asService(step, deadlines.job).catch((error) => {
    if (isContention(error)) return 0;
    throw error;
  });
}
