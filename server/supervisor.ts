import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { databaseUrls } from "@/lib/db/pool";
import { log } from "@/lib/log";
import { closeUnaccepted } from "./handed-connections";
import { relayMessages } from "./relay";
import type { Serving } from "./serve";
import type { FromWorker, ToWorker } from "./worker-messages";

/** How often in a row a worker may end before it serves. */
const maxFailedStarts = 3;

/** The pause before a worker is started again: none after a while of serving, else doubled each time. */
const pauseMs = { least: 100, most: 10_000 };
/** A worker that served this long is started again without a pause. */
const steadyMs = 60_000;

/** The end of a worker that was asked to stop. */
const stopped = "exit status 0";

/** How a worker ended. `servedMs`: how long it served; undefined if it never did. */
type End = { servedMs: number | undefined; reason: string };

/**
 * Starts workers that serve at one address, on the database for which this process is configured, and starts each again
 * when it ends by itself. Resolves when all of them serve.
 * @param options.onFailure called when a worker cannot be started again: the service has to end
 * @throws Error with a message for users, where a worker ends three times before it serves
 */
export async function superviseWorkers({
  count,
  onFailure,
}: {
  count: number;
  onFailure: (error: Error) => void;
}): Promise<Serving> {
  /** The workers that serve, by number. */
  const serving = new Map<number, Worker>();
  const running = new Set<Worker>();
  const stopping = new AbortController();
  let address = "";

  cluster.setupPrimary({
    exec: fileURLToPath(import.meta.url),
    args: [],
    execArgv: [...new Set([...process.execArgv, "--enable-source-maps"])],
  });
  relayMessages((worker) => [...serving.values()].filter((each) => each !== worker));

  const runOnce = async (number: number, onServing: () => void): Promise<End> => {
    const worker = cluster.fork({ OUTLAY_WORKER: String(number) });
    running.add(worker);
    closeUnaccepted(worker);
    let reason: string | undefined;
    let servingSinceMs: number | undefined;
    worker.on("message", (message: FromWorker) => {
      if (message.type === "listening") {
        tell(
          worker,
          stopping.signal.aborted ? { type: "stop" } : { type: "serve", database: databaseUrls() },
        );
      }
      if (message.type === "failed") reason = message.reason;
      if (message.type !== "serving") return;
      address = message.address;
      servingSinceMs = performance.now();
      serving.set(number, worker);
      onServing();
    });
    const end = await endOf(worker);
    running.delete(worker);
    if (serving.get(number) === worker) serving.delete(number);
    return {
      servedMs: servingSinceMs === undefined ? undefined : performance.now() - servingSinceMs,
      reason: reason ?? end,
    };
  };

  /** Keeps a worker running. @throws Error where it cannot be started */
  const keep = async (number: number, onServing: () => void): Promise<void> => {
    let failedStarts = 0;
    let restMs = 0;
    while (!stopping.signal.aborted) {
      const { servedMs, reason } = await runOnce(number, onServing);
      if (stopping.signal.aborted) {
        if (reason !== stopped) log.error({ worker: number, reason }, "A worker did not stop cleanly.");
        return;
      }
      failedStarts = servedMs === undefined ? failedStarts + 1 : 0;
      if (failedStarts === maxFailedStarts) {
        throw new Error(`A worker ended ${maxFailedStarts} times before it could serve: ${reason}`);
      }
      restMs = (servedMs ?? 0) >= steadyMs ? 0 : Math.min(Math.max(2 * restMs, pauseMs.least), pauseMs.most);
      log.error({ worker: number, reason }, "A worker ended; it is started again.");
      await wait(restMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  let isStarted = false;
  const keeping: Promise<void>[] = [];
  const started = Array.from({ length: count }, (_, index) => {
    return new Promise<void>((resolve, reject) => {
      keeping.push(
        keep(index + 1, resolve).catch((error: Error) => {
          if (isStarted) onFailure(error);
          else reject(error);
        }),
      );
    });
  });

  const stop = async () => {
    stopping.abort();
    for (const worker of running) tell(worker, { type: "stop" });
    await Promise.all(keeping);
  };
  try {
    await Promise.all(started);
    isStarted = true;
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, stop };
}

/** Waits for the end of a worker, and describes it. */
function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once("exit", (code: number | null, signal: string | null) => {
      resolve(signal ? `ended by ${signal}` : `exit status ${code}`);
    });
    // Also sent for a message that a worker could not receive any more: its end follows.
    worker.on("error", (error: Error) => {
      if (worker.process.pid === undefined) resolve(error.message);
    });
  });
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, () => {});
}
