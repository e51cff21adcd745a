import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

/** How much is thrown away of all unread bodies together: 8 MiB take half a second, and hardly any processor time. */
const bytesPerMs = (16 * 1024 * 1024) / 1000;

/** How long the rest of a body may take to come. */
const patienceMs = 10_000;

/** When all that was read so far has used up its share of the time, on the clock of `performance.now()`. */
let paidUntilMs = 0;

/**
 * Has the rest of a body read slowly and thrown away once its request was answered, as one is whose key is not known.
 * Many clients read no answer before they have sent everything, so it cannot stay unread; and Node would read it as fast as
 * it comes, which holds up the requests of everybody else. A client that has read its answer may close the connection.
 */
export function discardUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  // Before Node's own listener, which leaves a body alone of which somebody has begun to read.
  outgoing.prependOnceListener("finish", () => {
    if (incoming.complete || incoming.destroyed) return;
    // Whoever began to read it would keep what comes.
    incoming.removeAllListeners("data");
    discard(incoming).catch(() => incoming.socket.destroy());
  });
}

/** @throws where the connection ends, or the body does not within `patienceMs` */
async function discard(incoming: IncomingMessage): Promise<void> {
  const impatience = setTimeout(() => incoming.socket.destroy(), patienceMs).unref();
  try {
    for await (const chunk of incoming) {
      const now = performance.now();
      paidUntilMs = Math.max(paidUntilMs, now) + chunk.length / bytesPerMs;
      await wait(paidUntilMs - now, undefined, { ref: false });
    }
  } finally {
    clearTimeout(impatience);
  }
}
