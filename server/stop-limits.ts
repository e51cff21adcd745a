/**
 * The time limits of a stop, in milliseconds since it began. A stop takes at most 5 s, whatever clients, jobs and the database do. Giving
 * up loses no answered message: a message is answered after its commit, and Postgres recovers.
 */
export const stopLimits = {
  /** Connections with unanswered requests are closed, and jobs are no longer awaited. */
  drainMs: 2_500,
  /** A worker that still runs exits. */
  workerMs: 2_700,
  /** The supervisor kills a worker that has not exited because its event loop is blocked. */
  killMs: 2_900,
  /** The process exits. Its exit handler stops the embedded Postgres (`lib/db/embedded/postmaster.ts`). */
  processMs: 3_900,
};
