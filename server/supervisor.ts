import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { operatorToken } from "@/lib/access/operator";
import { databaseUrls } from "@/lib/db/pool";
import { log } from "@/lib/log";
import { ownSealingKey } from "@/lib/seal";
import { relayMessages } from "./relay";
import type { Serving } from "./serve";
import { stopLimits } from "./stop-limits";
import { aliveEveryMs, type FromWorker, type ToWorker } from "./worker-messages";

/** After how many failed starts in a row a worker is given up. */
const maxFailedStarts = 3;

/** The bounds of the pause before a worker is started again. It is doubled each time; there is none after steady serving. */
const pauseMs = { least: 100, most: 10_000 };
/** A worker that served this long is started again without a pause. */
const steadyMs = 60_000;

/** The end of a worker that stopped cleanly. */
const stopped = "exit status 0";

/**
 * How a worker ended. `servedMs`: how long it served; undefined if it never did. `isRefused`: whether it reported itself that it cannot
 * serve.
 */
type End = { servedMs: number | undefined; reason: string; isRefused: boolean };

/** The pause before the next start of a worker. @param lastMs the pause before the last one, 0 at first */
export function pauseBefore(servedMs: number | undefined, lastMs: number): number {
  if ((servedMs ?? 0) >= steadyMs) return 0;
  return Math.min(Math.max(2 * lastMs, pauseMs.least), pauseMs.most);
}

/**
 * Starts workers that serve at one address, on the database for which this process is configured. Starts a worker again when it ends by
 * itself or its event loop is blocked. Resolves when all of them serve.
 * @param options.stallLimitMs how long the event loop of a worker may be blocked before the worker is killed
 * @param options.onFailure called when a worker cannot be started again, so that the service has to end
 * @throws Error with a message for users, if a worker cannot serve, or ends three times before it does
 */
export async function superviseWorkers({
  count,
  stallLimitMs,
  onFailure,
}: {
  count: number;
  stallLimitMs: number;
  onFailure: (error: Error) => void;
}): Promise<Serving> {
  /** The workers that serve, by number. */
  const serving = new Map<number, Worker>();
  const running = new Set<Worker>();
  const stopping = new AbortController();
  let address = "";

  // A single worker accepts its connections itself, which costs less than receiving them from the supervisor.
  if (count === 1) cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: fileURLToPath(import.meta.url),
    args: [],
    execArgv: [...new Set([...process.execArgv, "--enable-source-maps"])],
  });
  relayMessages((worker) => [...serving.values()].filter((each) => each !== worker));

  const runOnce = async (number: number, onServing: () => void): Promise<End> => {
    // With PORT=0, a restarted single worker must use the same port as before. If there are several, the others keep the port open, and
    // a worker with an explicit port would try to open it a second time.
    const { port } = address && count === 1 ? new URL(address) : { port: "" };
    const worker = cluster.fork({ OUTLAY_WORKER: String(number), ...(port && { PORT: port }) });
    running.add(worker);
    closeUnaccepted(worker);
    let reason: string | undefined;
    const watchdog = killOnStall(worker, stallLimitMs, () => {
      reason = `its event loop stood for ${stallLimitMs / 1000} s`;
    });
    let isRefused = false;
    let servingSinceMs: number | undefined;
    worker.on("message", (message: FromWorker) => {
      if (message.type === "listening") {
        send(
          worker,
          stopping.signal.aborted
            ? { type: "stop" }
            : {
                type: "serve",
                database: databaseUrls(),
                operatorToken: operatorToken(),
                sealingKey: ownSealingKey(),
              },
        );
      }
      if (message.type === "failed") {
        reason = message.reason;
        isRefused = true;
      }
      if (message.type !== "serving") return;
      address = message.address;
      servingSinceMs = performance.now();
      serving.set(number, worker);
      onServing();
    });
    const end = await endOf(worker);
    clearInterval(watchdog);
    running.delete(worker);
    if (serving.get(number) === worker) serving.delete(number);
    return {
      servedMs: servingSinceMs === undefined ? undefined : performance.now() - servingSinceMs,
      reason: reason ?? end,
      isRefused,
    };
  };

  /** Keeps a worker running. @throws Error if it cannot be started */
  const keep = async (number: number, onServing: () => void): Promise<void> => {
    let failedStarts = 0;
    let restMs = 0;
    while (!stopping.signal.aborted) {
      const { servedMs, reason, isRefused } = await runOnce(number, onServing);
      if (stopping.signal.aborted) {
        if (reason !== stopped) log.error({ worker: number, reason }, "A worker did not stop cleanly.");
        return;
      }
      // What prevents the first start, such as a port in use, would prevent a second.
      if (isRefused && !isStarted) throw new Error(reason);
      failedStarts = servedMs === undefined ? failedStarts + 1 : 0;
      if (failedStarts === maxFailedStarts) {
        throw new Error(`A worker ended ${maxFailedStarts} times before it could serve: ${reason}`);
      }
      restMs = pauseBefore(servedMs, restMs);
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
    for (const worker of running) send(worker, { type: "stop" });
    const killing = setTimeout(() => {
      for (const worker of running) worker.process.kill("SIGKILL");
    }, stopLimits.killMs);
    await Promise.all(keeping);
    clearTimeout(killing);
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

/**
 * Kills a worker that has sent no message for `limitMs`, because its event loop is blocked. Such a worker does not react to other signals
 * than SIGKILL. Counts ticks of this process's timer instead of time, so that no worker is killed after the machine slept or the
 * supervisor was paused.
 * @param onKill called before the worker is killed
 */
function killOnStall(worker: Worker, limitMs: number, onKill: () => void): NodeJS.Timeout {
  let turns = 0;
  // Watches the worker from its first message on, because loading it takes long on a slow machine.
  let isWatched = false;
  worker.on("message", () => {
    turns = 0;
    isWatched = true;
  });
  return setInterval(() => {
    if (!isWatched) return;
    turns += 1;
    if (turns * aliveEveryMs <= limitMs) return;
    onKill();
    worker.process.kill("SIGKILL");
  }, aliveEveryMs);
}

/** Waits for the end of a worker, and describes it. */
function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once("exit", (code: number | null, signal: string | null) => {
      resolve(signal ? `ended by ${signal}` : `exit status ${code}`);
    });
    // Node also emits this for a message that a worker could no longer receive. Then its exit follows.
    worker.on("error", (error: Error) => {
      if (worker.process.pid === undefined) resolve(error.message);
    });
  });
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, () => {});
}

/** A connection that the supervisor has accepted. */
type Handle = { close(): void };

/**
 * Closes the connection that was being handed to a worker when the worker was killed. Node 20 to 24 keep such a connection open without
 * answering it, so that its client waits until its own timeout. It happens if the worker had not accepted the connection yet because it
 * was busy or out of memory. Closing an accepted connection has no effect.
 */
function closeUnaccepted(worker: Worker): void {
  // Node hands one connection at a time to a worker, as a message with the connection.
  let latest: Handle | undefined;
  const child = worker.process;
  const send = child.send.bind(child) as (...message: unknown[]) => boolean;
  child.send = (...message: unknown[]) => {
    if (isHandle(message[1])) latest = message[1];
    return send(...message);
  };
  worker.once("exit", (status: number | null) => {
    // If a worker ends by itself, the connections that it has not accepted are given to another worker.
    if (status !== 0) latest?.close();
  });
}

function isHandle(value: unknown): value is Handle {
  return typeof value === "object" && value !== null && "close" in value && typeof value.close === "function";
}
