import type { PoolClient } from "pg";
import { metrics } from "@/lib/metrics";
import { traced } from "@/lib/tracing";
import { asOutage, unavailable } from "./outage";
import { database, watches } from "./pool";
import type { GivenUp, WatchedCall } from "./watch";

/** How a connection is used. `isAlone`: for a single statement without a transaction. `owners`: see `traced`. */
export type Lease = {
  purpose: "writing" | "reading" | "replica";
  deadlineMs: number;
  isAlone?: boolean;
  owners?: readonly object[];
};

/**
 * Calls `run` with a connection for a transaction, and rolls back if it throws. If the call passes its deadline, or the
 * database becomes silent, its connection is closed, which ends the statement on this side.
 * @throws ServiceError unavailable if the database cannot be reached, takes too long, or cannot store anything
 */
export async function onClient<T>(
  { purpose, deadlineMs, isAlone = false, owners = [] }: Lease,
  run: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const isReading = purpose !== "writing";
  const watch = watches[purpose === "replica" ? "replica" : "primary"];
  const call = watch.begin(deadlineMs);
  let client: PoolClient | undefined;
  let broken: Error | undefined;
  try {
    const connected = await connect(purpose, call);
    client = connected;
    return await traced("database transaction", { "outlay.purpose": purpose }, owners, () => run(connected));
  } catch (error) {
    if (client && !isAlone && !call.givenUp) {
      await client.query("rollback").catch((failure: Error) => {
        broken = failure;
      });
    }
    throw asOutage(error, { givenUp: call.givenUp, isReading }) ?? error;
  } finally {
    watch.finish(call);
    metrics.databaseCalls.observe({ purpose }, (performance.now() - call.startedMs) / 1000);
    // Closes a connection that could not roll back or whose answer was not awaited; the pool must not reuse it.
    client?.release(call.givenUp ? true : broken);
  }
}

/** Takes a connection from the pool. It is closed as soon as its call is given up. */
function connect(purpose: Lease["purpose"], call: WatchedCall): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    const giveUp = (reason: GivenUp) => reject(unavailable(reason, purpose !== "writing"));
    if (call.givenUp) return giveUp(call.givenUp);
    call.onGivenUp = giveUp;
    database(purpose)
      .connect()
      .then(
        (client) => {
          if (call.givenUp) return client.release();
          call.onGivenUp = () => void client.end();
          resolve(client);
        },
        (error) => reject(unavailable("unreachable", purpose !== "writing", error)),
      );
  });
}
