import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, isContention } from "@/lib/db/transaction";

/** The most messages that a step sums. Recording in the workspace waits meanwhile, about 50 ms. */
const messagesAStep = 5_000;

/**
 * Recomputes the daily sums of workspaces whose time zone was changed, and replaces the present sums with them. Can run in several
 * processes and be killed at any time: each step is a transaction, and the next one continues where it ended.
 * @param atMost the most steps
 * @returns how many postings and sums were changed
 */
export async function runTimeZoneChanges(atMost = Number.POSITIVE_INFINITY): Promise<number> {
  let total = 0;
  for (let step = 0; step < atMost; step += 1) {
    const changed = await asService(
      (client) => callFunction<number | null>(client, "private.change_time_zone_step", messagesAStep),
      deadlines.job,
    ).catch((error: unknown) => {
      // Another transaction held the locks. The next step tries again.
      if (isContention(error)) return 0;
      throw error;
    });
    if (changed === null) break;
    total += changed;
  }
  return total;
}
