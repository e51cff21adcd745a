import { type Job, jobs, runJob } from "@/app/api/jobs/jobs";

/** Running background jobs. */
export type RunningJobs = { stop(): Promise<void> };

/** Runs each job immediately and again after its pause, until stopped. */
export function startJobs(): RunningJobs {
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
  const loop = async (job: Job) => {
    while (!stopping) {
      await runJob(job);
      if (!stopping) await pause(job.everyMs);
    }
  };
  const loops = jobs.map(loop);
  return {
    stop: async () => {
      stopping = true;
      for (const done of [...wake]) done();
      await Promise.all(loops);
      await Promise.all(jobs.map(({ drain }) => drain?.(true)));
    },
  };
}
