import { bookDueSubscriptions } from "@/lib/ingest/recurring";
import { log } from "@/lib/log";
import { runRepricings } from "@/lib/repricing/service";

/** Work that is done beside requests, by every process: each job sees to it that nothing is done twice. */
type Job = { name: string; everyMs: number; run: () => Promise<number> };

const jobs: Job[] = [
  { name: "book subscriptions", everyMs: 60_000, run: () => bookDueSubscriptions(Date.now()) },
  { name: "reprice messages", everyMs: 2_000, run: runRepricings },
];

/** The jobs of this process while they run. */
export type Workers = { stop(): Promise<void> };

/** Runs each job now and then again after its pause. A job that fails is logged, and tried again the next time. */
export function startWorkers(): Workers {
  let stopping = false;
  const wake = new Set<() => void>();
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        wake.delete(done);
        resolve();
      }
      wake.add(done);
    });
  const loop = async ({ name, everyMs, run }: Job) => {
    while (!stopping) {
      await run().then(
        (count) => count > 0 && log.info({ job: name, count }, "A job did its work."),
        (error) => log.error({ err: error, job: name }, "A job failed; it will be tried again."),
      );
      if (!stopping) await pause(everyMs);
    }
  };
  const loops = jobs.map(loop);
  return {
    stop: async () => {
      stopping = true;
      for (const done of [...wake]) done();
      await Promise.all(loops);
    },
  };
}
