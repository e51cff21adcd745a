import type { Worker } from "node:cluster";

/** A connection that the supervisor has accepted. */
type Handle = { close(): void };

/**
 * Closes the connection that was being handed to a worker when the worker was killed. Node 20 to 24 keep such a connection
 * open although nobody will answer it, and its client would wait until a timeout of its own. It happens to a worker that
 * had not accepted the connection yet, because it was busy or out of memory. Closing one that was accepted has no effect.
 */
export function closeUnaccepted(worker: Worker): void {
  // Node hands one connection at a time to a worker, as a message with the connection.
  let latest: Handle | undefined;
  const child = worker.process;
  const send = child.send.bind(child) as (...message: unknown[]) => boolean;
  child.send = (...message: unknown[]) => {
    if (isHandle(message[1])) latest = message[1];
    return send(...message);
  };
  worker.once("exit", (status: number | null) => {
    // A worker that ended by itself had given the connections that it did not accept to another worker.
    if (status !== 0) latest?.close();
  });
}

function isHandle(value: unknown): value is Handle {
  return typeof value === "object" && value !== null && "close" in value && typeof value.close === "function";
}
