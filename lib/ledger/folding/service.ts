import type { ClientBase } from "pg";
import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, isContention } from "@/lib/db/transaction";

/**
 * Sums past days by month until none are left. Several processes may run it at once, and it may be killed at any time: each transaction
 * covers at most one month of a workspace.
 * @returns how many sums were made
 */
export async function runFolding(): Promise<number> {
  let total = 0;
  for (;;) {
    const folded = await asService(foldPastDays, deadlines.job).catch((error) => {
      // Another transaction held the same rows: try again.
      if (isContention(error)) return 0;
      throw error;
    });
    if (folded === null) return total;
    total += folded;
  }
}

/** Folds past days of one workspace. @returns the number of sums made; null if nothing is left to fold */
export function foldPastDays(client: ClientBase): Promise<number | null> {
  return callFunction(client, "private.fold_past_days");
}
