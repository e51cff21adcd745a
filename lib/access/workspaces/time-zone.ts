import { deadlines } from "@/lib/db/deadlines";
import { callFunction } from "@/lib/db/query";
import { asService, isContention } from "@/lib/db/transaction";

/** Messages that a step sums at most. Recording in the workspace waits as long: some 50 ms. */
const messagesAStep = 5_000;

/**
 * Sums the days of workspaces anew whose time zone was changed, and puts them in the place of the present ones. Safe to run in every
 * process, and to be killed: each step is a transaction, and the next one continues where it ended.
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
      // Others were in its way: it is tried again.
      if (isContention(error)) return 0;
      throw error;
    });
    if (changed === null) break;
    total += changed;
  }
  return total;
}
