import { createServer } from "node:net";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AlreadyRunningError, type Claim, holderOf } from "@/lib/db/embedded/claim.mjs";
import { env, postgresUrl } from "@/lib/env";
import { log } from "@/lib/log";
import { announceAddress } from "@/lib/service-address";
import { firstSteps } from "./first-steps";
import { startHttp } from "./http";
import { step } from "./progress.mjs";
import { startServices } from "./services";
import { startWorkers } from "./workers";

/** The folder of the repository: this file's bundle is in `dist/`, as deep as the file itself. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** How long a stop may take before the process ends anyway. */
const stopLimitMs = 30_000;

export type MainOptions = {
  dev: boolean;
  /** When the start began, on the clock of `performance.now()`. */
  startedMs?: number;
  /** A claim on the data folder that was made earlier in this process. */
  claim?: Claim;
};

/**
 * Starts the self-hosted service and serves until a signal ends it. Exits with 0 after a requested stop, and with 1 and a
 * message where it cannot start.
 */
export async function main({ dev, startedMs = 0, claim }: MainOptions): Promise<void> {
  /** Functions that close what was opened, in the order of opening. */
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  let stopping = false;
  const starting = start();
  stopOnSignal(async () => {
    stopping = true;
    // Waits for the end of a start, because what it has opened must be closed.
    await starting.catch(() => {});
    await close();
  });
  try {
    await starting;
  } catch (error) {
    await close();
    claim?.release();
    if (stopping) return;
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(1);
  }

  async function start(): Promise<void> {
    const settings = env();
    // Loaded only when needed, because the SDK is larger than the service.
    if (settings.OTEL_EXPORTER_OTLP_ENDPOINT) opened.push((await import("./tracing")).startTracing(settings));
    await refuseTakenPort(
      settings.PORT,
      settings.HOST,
      claim || postgresUrl() ? undefined : settings.OUTLAY_DATA_DIR,
    );
    const services = await startServices({
      settings,
      root,
      log: (message) => log.warn(message),
      ...(claim && { claim }),
    });
    opened.push(services.stop);
    if (stopping) return;
    let address = "";
    await step("ready", async () => {
      const http = await startHttp({ port: settings.PORT, host: settings.HOST, dev });
      opened.push(http.close);
      opened.push(startWorkers().stop);
      address = http.address;
      announceAddress(address);
      services.announce(address);
      return `${address} (${((performance.now() - startedMs) / 1000).toFixed(1)} s in all)`;
    });
    process.stdout.write(firstSteps(settings, address, services.demo));
  }
}

/** Refuses a port in use, before the database is touched. If this data folder's own service uses it, the error says so. */
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
    setTimeout(() => {
      log.error(`The service did not stop within ${stopLimitMs / 1000} s; ending it.`);
      process.exit(1);
    }, stopLimitMs).unref();
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

/** The text of an error for users. The stack is added to errors that are not our own. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "EADDRINUSE") {
    return `Port ${"port" in error ? error.port : ""} is taken by another program. Set PORT to another one.`;
  }
  return [
    "Error",
    "AlreadyRunningError",
    "EnvError",
    "MigrationError",
    "NewerDatabaseError",
    "OlderDatabaseError",
  ].includes(error.name)
    ? error.message
    : (error.stack ?? error.message);
}

if (pathToFileURL(process.argv[1] ?? "").href === import.meta.url) {
  await main({ dev: process.argv.includes("--dev") });
}
