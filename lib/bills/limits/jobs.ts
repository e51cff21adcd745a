import { env } from "@/lib/env";
import { claimLimit } from "./limit-queries";
import { leaseSeconds, settleLimit } from "./settle-limit";

/** How many limits one process writes at once: a provider that is slow delays no other. */
const most = 4;

const running = new Set<Promise<void>>();
const ends = new AbortController();

/** Begins to write and read the limits that are due. Returns before that is done. @returns how many it began */
export async function startLimits(): Promise<number> {
  if (env().PROVIDER_URLS.isOff) return 0;
  let began = 0;
  while (running.size < most && !ends.signal.aborted) {
    const claimed = await claimLimit(leaseSeconds);
    if (!claimed) break;
    began += 1;
    const run: Promise<void> = settleLimit(claimed, { signal: ends.signal }).finally(() => {
      running.delete(run);
    });
    running.add(run);
  }
  return began;
}

/** Waits for the limits that are being written. @param isLast ends requests that wait for a provider */
export async function drainLimits(isLast: boolean): Promise<void> {
  if (isLast) ends.abort();
  await Promise.all(running);
}
