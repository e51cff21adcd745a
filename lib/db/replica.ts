import { setTimeout as wait } from "node:timers/promises";
import type { ClientBase } from "pg";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { log } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { boolean, neverNull, text } from "./columns";
import { deadlines } from "./deadlines";
import { onClient } from "./lease";
import { sqlState } from "./outage";
import { selectOne } from "./query";
import { sql } from "./sql";

/** How often a replica that is behind is asked again. */
const askAgainMs = 5;

/** How long a replica is not asked after it was behind or did not answer, so that not every read waits for it. */
const restMs = 1_000;

/** How a replica does: `behind` where it has not replayed in time what the primary had committed. */
export type ReplicaState = "ok" | "behind" | "failing";

/** The replica cannot answer: it is behind, or it no longer follows the primary. */
class NotCurrent extends Error {
  constructor(
    readonly state: Exclude<ReplicaState, "ok">,
    message: string,
  ) {
    super(message);
  }
}

let restsUntilMs = 0;
let lastState: ReplicaState = "ok";

/**
 * Asks the replica (`POSTGRES_READ_URL`) if there is one, and the primary if the replica is behind or does not answer. The
 * primary's position is read first, and the replica answers only once it has replayed it. So an answer has everything that was
 * committed before the call, whoever wrote it: people see what they have just done, and figures do not depend on the server.
 * @param askReplica must call `requirePosition` before it reads
 * @throws what `askPrimary` throws; what `askReplica` throws, where it is not the replica that failed
 */
export async function preferReplica<T>(
  askReplica: (position: string) => Promise<T>,
  askPrimary: () => Promise<T>,
): Promise<T> {
  if (env().POSTGRES_READ_URL === undefined) return askPrimary();
  if (performance.now() >= restsUntilMs) {
    const position = await readPosition();
    try {
      const answer = await askReplica(position);
      note("ok");
      return answer;
    } catch (error) {
      const state = stateAfter(error);
      if (state === undefined) throw error;
      restsUntilMs = performance.now() + restMs;
      note(state, error);
    }
  }
  metrics.readsWithoutReplica.inc({ reason: lastState });
  return askPrimary();
}

/** How far the primary's log is on its disk: at least as far as every commit that was acknowledged. */
function readPosition(): Promise<string> {
  const how = { purpose: "reading" as const, deadlineMs: deadlines.request, isAlone: true };
  return onClient(how, async (client) => {
    const row = await selectOne(
      client,
      { position: neverNull(text()) },
      sql`select pg_current_wal_flush_lsn()::text as position`,
    );
    return row.position;
  });
}

/**
 * Waits until a replica has replayed a position.
 * @throws NotCurrent where it does not within `deadlines.replica`, or was promoted: then it does not follow the primary any more
 */
export async function requirePosition(client: ClientBase, position: string): Promise<void> {
  const giveUpAt = performance.now() + deadlines.replica;
  for (;;) {
    const { follows, reached } = await selectOne(
      client,
      { follows: neverNull(boolean()), reached: neverNull(boolean()) },
      sql`select pg_is_in_recovery() as follows, coalesce(pg_last_wal_replay_lsn() >= ${position}::pg_lsn, false) as reached`,
    );
    if (!follows) throw new NotCurrent("failing", "The server is no replica: it is not in recovery.");
    if (reached) return;
    if (performance.now() >= giveUpAt)
      throw new NotCurrent("behind", "The replica has not replayed what the primary had committed.");
    await wait(askAgainMs);
  }
}

/**
 * The state of a replica whose read failed with an error: it did not answer, or ended the read to go on with its replay (40001,
 * 40P01). Undefined where the error is not about the replica.
 */
function stateAfter(error: unknown): Exclude<ReplicaState, "ok"> | undefined {
  if (error instanceof NotCurrent) return error.state;
  const isUnavailable = error instanceof ServiceError && error.code === "unavailable";
  return isUnavailable || ["40001", "40P01"].includes(sqlState(error)) ? "failing" : undefined;
}

/** Logs a state that differs from the last one. */
function note(state: ReplicaState, error?: unknown): void {
  if (state === lastState) return;
  lastState = state;
  const reason = error instanceof Error ? error.message : undefined;
  if (state === "ok") log.info("The replica answers reads again.");
  else log.warn({ reason }, "The replica cannot answer reads; the primary does.");
}

/** Asks the replica how it does. Takes at most three seconds, and never throws. @returns undefined where there is none */
export async function checkReplica(): Promise<ReplicaState | undefined> {
  if (env().POSTGRES_READ_URL === undefined) return undefined;
  try {
    const position = await readPosition();
    const how = { purpose: "replica" as const, deadlineMs: deadlines.probe, isAlone: true };
    await onClient(how, (client) => requirePosition(client, position));
    return "ok";
  } catch (error) {
    return stateAfter(error) ?? "failing";
  }
}
