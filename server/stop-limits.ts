/**
 * When a stop gives up, in milliseconds since it began: a whole one takes at most 5 s, whatever clients, jobs and the database
 * do. What is given up loses nothing that was answered: a message is answered after its commit, and Postgres recovers.
 */
export const stopLimits = {
  /** Connections whose requests are not answered are closed; jobs are no longer waited for. */
  drainMs: 2_500,
  /** A worker that still runs ends itself. */
  workerMs: 2_700,
  /** The supervisor kills a worker that does not: its event loop stands. */
  killMs: 2_900,
  /** The process ends; the embedded Postgres is stopped on the way out (`lib/db/embedded/postmaster.ts`). */
  processMs: 3_900,
};
