import { announceOperatorToken } from "@/lib/access/operator";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { env } from "@/lib/env";
import { log } from "@/lib/log";
import { announceSealingKey } from "@/lib/seal";
import { connectWorkers } from "@/lib/workers";
import { describeFailure } from "./describe-failure";
import { type Serving, serve } from "./serve";
import { stopLimits } from "./stop-limits";
import { aliveEveryMs, type FromWorker, type ToWorker } from "./worker-messages";

/**
 * Serves as a worker, which `server/supervisor.ts` starts and watches. The supervisor has started and migrated the database; it sends the
 * worker the database's URLs, and later the request to stop. The worker exits with 0 after it has answered pending requests, and
 * immediately when the supervisor has ended.
 */
export function runWorker(): void {
  let serving: Promise<Serving> | undefined;
  let stopping = false;

  const stop = async () => {
    // Ctrl-C reaches the worker twice: from the terminal, and from the supervisor.
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), stopLimits.workerMs).unref();
    try {
      // Waits for a start in progress, because everything that it opens must be closed.
      const started = await serving?.catch(() => undefined);
      await started?.stop();
      await closeDatabase();
      process.exit(0);
    } catch (error) {
      log.error({ err: error }, "The worker did not stop cleanly.");
      process.exit(1);
    }
  };

  const start = async ({ database, operatorToken, sealingKey }: Extract<ToWorker, { type: "serve" }>) => {
    configureDatabase(database);
    if (operatorToken !== undefined) announceOperatorToken(operatorToken);
    if (sealingKey !== undefined) announceSealingKey(sealingKey);
    try {
      // One worker runs the jobs, so that a job which fails badly cannot end all of them.
      serving = serve({ dev: false, runsJobs: env().OUTLAY_WORKER === 1 });
      const { address } = await serving;
      send({ type: "serving", address });
    } catch (error) {
      if (stopping) return;
      send({ type: "failed", reason: describeFailure(error) }, () => process.exit(1));
    }
  };

  connectWorkers();
  process.on("message", (message: ToWorker) => {
    if (message.type === "serve") void start(message);
    else if (message.type === "stop") void stop();
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop());
  // The first stack trace of a process parses the source map of its bundle, which takes up to half a second. This does it during the
  // start and not while a request fails.
  void new Error().stack;
  send({ type: "listening" });
  setInterval(() => send({ type: "alive" }), aliveEveryMs).unref();
}

function send(message: FromWorker, sent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, sent);
}
