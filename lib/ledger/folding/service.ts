import type { ClientBase } from "pg";
import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { callFunction } from "@/lib/db/query";
import { asService } from "@/lib/db/transaction";

/**
 * Sums past days by month until none are left. Several processes may run it at once, and it may be killed at any time: each transaction
 * covers at most one month of a workspace.
 * @returns how many sums were made
 */
export function runFolding(): Promise<number> {
  return runSteps(() => asService(foldPastDays, deadlines.job));
}

/** Folds past days of one workspace. @returns the number of sums made; null if nothing is left to fold */
export function foldPastDays(client: ClientBase): Promise<number | null> {
  return callFunction(client, "private.fold_past_days");
}
