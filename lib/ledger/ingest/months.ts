import { database } from "@/lib/db/pool";
import { callAsService } from "@/lib/db/transaction";

/** Months (`YYYY-MM`, UTC) whose partitions exist, by the pool of their database. Partitions are never removed. */
const monthsOfPools = new WeakMap<object, Set<string>>();

function knownMonths(): Set<string> {
  const pool = database("writing");
  const known = monthsOfPools.get(pool) ?? new Set();
  monthsOfPools.set(pool, known);
  return known;
}

/** A transaction needs partitions of months that may not exist yet; see `withMonths`. */
class UnknownMonths extends Error {
  constructor(readonly months: string[]) {
    super(`The partitions of ${months.join(", ")} are to be made first.`);
  }
}

/**
 * Ensures that partitions exist for postings at these instants (ISO 8601, UTC). Call it in a transaction that `withMonths` runs. Does no
 * I/O: it throws for a month that this process has not written to yet, and `withMonths` creates the partition.
 */
export function requireMonths(instants: Iterable<string>): void {
  const months = [...new Set([...instants].map((instant) => instant.slice(0, 7)))];
  const known = knownMonths();
  const unknown = months.filter((month) => !known.has(month));
  if (unknown.length > 0) throw new UnknownMonths(unknown);
}

/**
 * Runs a transaction that calls `requireMonths`. If a month is unknown, the transaction is rolled back, the partition is created in a
 * transaction of its own, and `run` runs again. So no second connection is taken while one is held, and the locks of creating a
 * partition are never held together with others.
 */
export async function withMonths<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof UnknownMonths)) throw error;
      await makeMonths(error.months);
    }
  }
}

async function makeMonths(months: string[]): Promise<void> {
  for (const month of months) {
    await callAsService("private.ensure_messages_month", `${month}-01T00:00:00Z`);
    knownMonths().add(month);
  }
}
