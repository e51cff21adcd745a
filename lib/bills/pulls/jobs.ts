import { env } from "@/lib/env";
import { reportFailure } from "@/lib/log";
import { claimAccount } from "./account-queries";
import { leaseSeconds, pullAccount } from "./pull";

/** How many accounts one process pulls at once: one that is slow delays no other. */
const most = 4;

/** How long a drain takes on further accounts, ms, before a scheduler calls again. */
const drainLimitMs = 40_000;

const running = new Set<Promise<void>>();
const ends = new AbortController();

/** Begins to pull the accounts that are due. Returns before they are pulled. @returns how many it began */
export async function startPulling(): Promise<number> {
  if (env().PROVIDER_URLS.isOff) return 0;
  let began = 0;
  while (running.size < most && !ends.signal.aborted) {
    const claimed = await claimAccount(leaseSeconds);
    if (!claimed) break;
    began += 1;
    const pull: Promise<void> = pullAccount(claimed, { signal: ends.signal }).finally(() => {
      running.delete(pull);
    });
    running.add(pull);
  }
  return began;
}

/** Waits for the pulls that run, and begins those that wait for them. @param isLast ends them at the next page */
export async function drainPulling(isLast: boolean): Promise<void> {
  if (isLast) ends.abort();
  const beganMs = performance.now();
  while (running.size > 0) {
    await Promise.race(running);
    if (performance.now() - beganMs > drainLimitMs) break;
    await startPulling().catch((error) => reportFailure(error, "No further account could be pulled."));
  }
  await Promise.all(running);
}
