/**
 * How long the service waits for the database, milliseconds. Each is kept on this side: a database that has stopped, or
 * a network that swallows packets, answers nothing that could be waited for. A database that answers nothing at all is
 * noticed sooner, by `Watch`, and ends every call.
 */
export const deadlines = {
  /** A new connection, or a free one of the pool. */
  connect: 5_000,
  /** A transaction of a request, its connection included. */
  request: 10_000,
  /** A page of an export. */
  exportPage: 30_000,
  /** A transaction of a job: 500 messages repriced, 50 subscriptions booked. */
  job: 60_000,
  /** One statement of a migration, a reconciliation or a seed. */
  maintenance: 3_600_000,
  /** An answer to "are you there?". */
  probe: 1_250,
} as const;

/**
 * What Postgres is told of a read's statement, so that it gives up by itself before this side hangs up.
 * @param deadlineMs of the transaction
 */
export function statementTimeout(deadlineMs: number): string {
  return `${Math.round(deadlineMs * 0.8)}ms`;
}
