import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { callFunction } from "@/lib/db/query";
import { asService } from "@/lib/db/transaction";

/** The most messages that a step sums. Recording in the workspace waits meanwhile, about 50 ms. */
const messagesAStep = 5_000;

/**
 * Recomputes the daily sums of workspaces whose time zone was changed, and replaces the present sums with them. Can run in several
 * processes and be killed at any time: each step is a transaction, and the next one continues where it ended.
 * @param atMost the most steps
 * @returns how many postings and sums were changed
 */
export function runTimeZoneChanges(atMost = Number.POSITIVE_INFINITY): Promise<number> {
  return runSteps(
    () =>
      asService(
        (client) => callFunction<number | null>(client, "private.change_time_zone_step", messagesAStep),
        deadlines.job,
      ),
    (steps) => steps < atMost,
  );
}
