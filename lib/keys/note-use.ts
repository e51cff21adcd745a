import { callAsService } from "@/lib/db/transaction";
import { log } from "@/lib/log";
import type { LoadedKey } from "./queries";

/** How old the last use on record must be before another is worth a write. */
const noteEveryMs = 60_000;

/** Keys that were used and are to be noted; none while nothing is under way. */
const waiting = new Set<string>();
let noting = false;

/**
 * Notes that these keys were presented at `now` (ms, the database's clock), refused ones included: a revoked key that is
 * still in use somewhere is worth knowing. Returns at once and fails no request; one statement at a time, at most once a
 * minute a key over all processes. Call it when the transaction that loaded the keys is over: it waits for their locks.
 */
export function noteUse(keys: Iterable<LoadedKey>, now: number): void {
  for (const { key } of keys) {
    if (key.lastUsedAt === null || now - key.lastUsedAt >= noteEveryMs) waiting.add(key.id);
  }
  if (waiting.size > 0 && !noting) void noteWaiting();
}

async function noteWaiting(): Promise<void> {
  noting = true;
  try {
    while (waiting.size > 0) {
      const ids = [...waiting];
      waiting.clear();
      await callAsService("private.note_key_use", ids);
    }
  } catch (error) {
    waiting.clear();
    log.debug({ err: error }, "The use of keys could not be noted; their next use will be.");
  } finally {
    noting = false;
  }
}
