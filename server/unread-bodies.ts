import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { processCount } from "@/lib/env";

/**
 * The rate at which unread bodies are discarded, over all connections and workers: 8 MiB take half a second and little CPU
 * time.
 */
const bytesPerMs = (16 * 1024 * 1024) / 1000 / processCount();

/** How long the rest of a body may take to arrive. */
const readLimitMs = 10_000;

/** When the bytes read so far will be within the rate, by `performance.now()`. */
let usedUntilMs = 0;

/**
 * Discards the rest of a body, slowly, after its request was answered, for example because its key is unknown. The body must be read,
 * because many clients read the response only after they have sent everything. Node would read it at full speed, which delays all other
 * requests. A client that has read its response may close the connection.
 */
export function discardUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  // Runs before Node's own listener, which does not read a body that has other readers.
  outgoing.prependOnceListener("finish", () => {
    if (incoming.complete || incoming.destroyed) return;
    // Removes readers that would keep the data.
    incoming.removeAllListeners("data");
    discard(incoming).catch(() => incoming.socket.destroy());
  });
}

/** @throws Error if the connection ends, or the body does not end within `readLimitMs` */
async function discard(incoming: IncomingMessage): Promise<void> {
  const timeout = setTimeout(() => incoming.socket.destroy(), readLimitMs).unref();
  try {
    for await (const chunk of incoming) {
      const now = performance.now();
      usedUntilMs = Math.max(usedUntilMs, now) + chunk.length / bytesPerMs;
      await wait(usedUntilMs - now, undefined, { ref: false });
    }
  } finally {
    clearTimeout(timeout);
  }
}
