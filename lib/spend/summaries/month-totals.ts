import { Batcher } from "@/lib/batcher";
import { asKeysAtOnce, type KeyClaims } from "@/lib/db/transaction";
import { overloaded, ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { type MonthTotal, selectMonthTotals } from "./summary-queries";

/**
 * Reads the totals of the current month, in the workspace's time zone, of what a key may see. Calls that arrive while others are
 * being read are read together afterwards, so each sees every message that was acknowledged before the call.
 * @throws ServiceError unavailable
 */
export async function readMonthTotals(claims: KeyClaims): Promise<MonthTotal[]> {
  const outcome = await reads.add(claims);
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

const reads = new Batcher<KeyClaims, MonthTotal[] | Error>({
  write: readGroup,
  weigh: () => 1,
  // A large group would keep its first call waiting; more calls in one save little.
  maxGroupWeight: 16,
  // Leaves half of the connections for reading to other reads.
  maxInFlight: 2,
  maxQueuedWeight: 10_000,
  overflow: () => overloaded(),
});

/** Reads for a group, once for equal claims. If the statement fails, each call is read alone, so that one cannot fail the others. */
async function readGroup(group: KeyClaims[]): Promise<(MonthTotal[] | Error)[]> {
  const callers = new Map(group.map((claims) => [JSON.stringify(claims), claims]));
  const distinct = [...callers.values()];
  const read = (claims: KeyClaims[]) => asKeysAtOnce(claims, selectMonthTotals);
  const found: (MonthTotal[] | Error)[] = await read(distinct).catch((error) => {
    if (error instanceof ServiceError || distinct.length === 1) throw error;
    reportFailure(error, "A group of summaries could not be read; reading them one by one.");
    return Promise.all(distinct.map((claims) => read([claims]).then(([totals = []]) => totals, asError)));
  });
  const byCaller = new Map([...callers.keys()].map((text, index) => [text, found[index]]));
  return group.map((claims) => {
    const totals = byCaller.get(JSON.stringify(claims));
    if (!totals) throw new Error("The totals of a key are missing.");
    return totals;
  });
}

const asError = (error: Error) => error;
