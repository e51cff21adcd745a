import { deadlines } from "@/lib/db/deadlines";
import { asService, isContention } from "@/lib/db/transaction";
import { foldPastDays } from "./queries";

/**
 * Sums past days by month and by week until none are left; see docs/decisions/0255-fold-past-days.md. Safe to run in every process,
 * and to be killed: each transaction folds at most a month of a workspace.
 * @returns how many sums were folded
 */
export async function runFolding(): Promise<number> {
  let total = 0;
  for (;;) {
    const folded = await asService(foldPastDays, deadlines.job).catch((error) => {
      if (isContention(error)) return 0;
      throw error;
    });
    if (folded === null) return total;
    total += folded;
  }
}
