import { callAsService } from "@/lib/db/transaction";
import { log } from "@/lib/log";
import type { LoadedKey } from "./admission-queries";

/** The stored time of a key's last use is updated at most this often. */
const recordEveryMs = 60_000;

/** Ids of keys whose use is not stored yet. */
const waiting = new Set<string>();
let isStoring = false;

/**
 * Stores that these keys were used at `now` (the database's time, ms since 1970). Refused keys count too, so that the use of a revoked
 * key is visible. Returns immediately and never fails a request; each key is written at most once a minute, over all processes. Call it
 * after the transaction that loaded the keys, because it waits for their locks.
 */
export function recordKeyUse(keys: Iterable<LoadedKey>, now: number): void {
  for (const { key } of keys) {
    if (key.lastUsedAt === null || now - key.lastUsedAt >= recordEveryMs) waiting.add(key.id);
  }
  if (waiting.size > 0 && !isStoring) void storeWaiting();
}

async function storeWaiting(): Promise<void> {
  isStoring = true;
  try {
    while (waiting.size > 0) {
      const ids = [...waiting];
      waiting.clear();
      await callAsService("private.note_key_use", ids);
    }
  } catch (error) {
    waiting.clear();
    log.debug({ err: error }, "The use of keys could not be recorded; their next use will be.");
  } finally {
    isStoring = false;
  }
}
