/**
 * How long the service waits for the database, milliseconds. The service measures these itself, because a stopped
 * database or a network that drops packets sends no error. `Watch` notices a silent database sooner and ends every
 * call.
 */
export const deadlines = {
  /** A connection, new or from the pool. */
  connect: 5_000,
  /** A transaction of a request, its connection included. */
  request: 10_000,
  /** How long a replica may take to replay what the primary has committed; after that, the primary answers. */
  replica: 100,
  /** A page of an export. */
  exportPage: 30_000,
  /** An archive of a whole workspace, read in one snapshot: ten million messages twice. */
  archive: 1_200_000,
  /** A transaction of a job: 500 postings repriced, 50 subscriptions booked. */
  job: 60_000,
  /** One statement of a migration, a reconciliation or a seed. */
  maintenance: 3_600_000,
  /** A probe of whether the database answers. */
  probe: 1_250,
} as const;

/**
 * Postgres's own time limit of a read's statement, so that Postgres ends it before the service closes the connection.
 * @param deadlineMs of the transaction
 */
export function statementTimeout(deadlineMs: number): string {
  return `${Math.round(deadlineMs * 0.8)}ms`;
}
