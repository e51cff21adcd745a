import { database } from "@/lib/db/pool";
import { callAsService } from "@/lib/db/transaction";

/** Months (`YYYY-MM`, UTC) whose partitions are there, by the pool of their database. They are never removed. */
const monthsOfPools = new WeakMap<object, Set<string>>();

function knownMonths(): Set<string> {
  const pool = database("writing");
  const known = monthsOfPools.get(pool) ?? new Set();
  monthsOfPools.set(pool, known);
  return known;
}

/** A transaction wants to write to months that may have no partition yet; see `withMonths`. */
class UnknownMonths extends Error {
  constructor(readonly months: string[]) {
    super(`The partitions of ${months.join(", ")} are to be made first.`);
  }
}

/**
 * Makes sure, within a transaction that `withMonths` runs, that what occurred at these instants (ISO 8601, UTC) can be
 * written. Costs nothing but the first time a process writes to a month.
 */
export function requireMonths(instants: Iterable<string>): void {
  const months = [...new Set([...instants].map((instant) => instant.slice(0, 7)))];
  const known = knownMonths();
  const unknown = months.filter((month) => !known.has(month));
  if (unknown.length > 0) throw new UnknownMonths(unknown);
}

/**
 * Runs a transaction that calls `requireMonths`. Where a month is not known it is rolled back, the partition is made in a
 * transaction of its own, and `run` runs again: nobody takes a second connection while one is held, and the locks that
 * making a partition takes are never held together with others.
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
