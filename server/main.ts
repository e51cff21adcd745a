import { createServer } from "node:net";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { announceOperatorToken } from "@/lib/access/operator";
import { AlreadyRunningError, type Claim, holderOf } from "@/lib/db/embedded/claim.mjs";
import { env, postgresUrl } from "@/lib/env";
import { log } from "@/lib/log";
import { announceAddress } from "@/lib/service-address";
import { describeFailure } from "./describe-failure";
import { firstSteps } from "./first-steps";
import { ignoreClosedOutput, step } from "./progress.mjs";
import { serve } from "./serve";
import { startServices } from "./services";
import { stopLimits } from "./stop-limits";
import { superviseWorkers } from "./supervisor";
import { runWorker } from "./worker";

/** The folder of the repository: this file and its bundle in `dist/` are one level below it. */
const root = fileURLToPath(new URL("..", import.meta.url));

export type MainOptions = {
  dev: boolean;
  /** When the start began, by `performance.now()`. */
  startedMs?: number;
  /** A claim on the data folder that was made earlier in this process. */
  claim?: Claim;
};

/**
 * Starts the self-hosted service and serves in WEB_CONCURRENCY workers until a signal ends it. In development, and for a single worker
 * with OUTLAY_STALL_SECONDS=0, this process serves itself. Exits with 0 after a requested stop, and with 1 and a message if it cannot
 * start or a worker cannot be started again.
 */
export async function main({ dev, startedMs = 0, claim }: MainOptions): Promise<void> {
  ignoreClosedOutput();
  // A worker has a channel to its supervisor. Without a channel, a user has set OUTLAY_WORKER.
  if (process.send && env().OUTLAY_WORKER !== undefined) return runWorker();
  /** Functions that close opened resources, in the order in which these were opened. */
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  let stopping = false;
  const starting = start();
  stopOnSignal(async () => {
    stopping = true;
    // Waits for a start in progress, because everything that it opens must be closed.
    await starting.catch(() => {});
    await close();
  });
  try {
    await starting;
  } catch (error) {
    await close();
    claim?.release();
    if (stopping) return;
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }

  /** Ends the service when a worker cannot be started again. */
  function fail(error: Error): void {
    if (stopping) return;
    stopping = true;
    process.stderr.write(`${describeFailure(error)}\n`);
    endAfter(stopLimits.processMs);
    close().then(
      () => process.exit(1),
      () => process.exit(1),
    );
  }

  async function start(): Promise<void> {
    const settings = env();
    // In development, Next watches the sources, and several processes would do so several times.
    const workers = dev ? 1 : settings.WEB_CONCURRENCY;
    const stallLimitMs = settings.OUTLAY_STALL_SECONDS * 1000;
    const isWatched = !dev && stallLimitMs > 0;
    await refuseTakenPort(
      settings.PORT,
      settings.HOST,
      claim || postgresUrl() ? undefined : settings.OUTLAY_DATA_DIR,
    );
    const services = await startServices({
      settings,
      root,
      processes: workers,
      log: (message) => log.warn(message),
      ...(claim && { claim }),
    });
    opened.push(services.stop);
    announceOperatorToken(services.operatorToken);
    if (stopping) return;
    let address = "";
    await step("ready", async () => {
      const serving =
        workers > 1 || isWatched
          ? await superviseWorkers({
              count: workers,
              stallLimitMs: isWatched ? stallLimitMs : Number.POSITIVE_INFINITY,
              onFailure: fail,
            })
          : await serve({ dev, runsJobs: true });
      opened.push(serving.stop);
      address = serving.address;
      services.announce(address);
      announceAddress(address);
      const by = workers === 1 ? "" : ` by ${workers} workers`;
      return `${address}${by} (${((performance.now() - startedMs) / 1000).toFixed(1)} s in all)`;
    });
    process.stdout.write(firstSteps(settings, services.operatorToken, services.demo));
  }
}

/** Refuses a port in use before the database is started. If the service of this data folder uses it, the error says so. */
async function refuseTakenPort(port: number, host: string, dataDir: string | undefined): Promise<void> {
  const taken = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    const probe = createServer();
    probe.once("error", done);
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => done(undefined)));
  });
  if (!taken) return;
  const folder = dataDir && resolve(root, dataDir);
  const holder = folder && holderOf(folder);
  throw holder ? new AlreadyRunningError(folder, holder) : taken;
}

/** Stops on the first signal. A second one ends the process, unless it follows within a second, as Ctrl-C under npm does. */
function stopOnSignal(stop: () => Promise<void>): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstAt !== undefined) {
      if (performance.now() - firstAt > 1_000) process.exit(1);
      return;
    }
    firstAt = performance.now();
    process.stdout.write(`\n  ${"stopping".padEnd(9)} ${signal}: answering pending requests first\n`);
    endAfter(stopLimits.processMs);
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, "The service did not stop cleanly.");
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

/** Ends the process if it has not ended by itself. */
function endAfter(limitMs: number): void {
  setTimeout(() => {
    log.error(`The service did not stop within ${limitMs / 1000} s; ending it.`);
    process.exit(1);
  }, limitMs).unref();
}

if (pathToFileURL(process.argv[1] ?? "").href === import.meta.url) {
  await main({ dev: process.argv.includes("--dev") });
}
