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

/** The pause before a replica that is behind is asked again. */
const askAgainMs = 5;

/** How long a replica is not used after it was behind or failed, so that not every read waits for it. */
const restMs = 1_000;

/** The state of a replica. `behind`: it has not replayed the primary's commits in time. */
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
 * Reads from the replica (`POSTGRES_READ_URL`) if there is one, and from the primary if the replica is behind or fails. Reads the
 * position of the primary first, and waits until the replica has replayed it. So a read sees everything that was committed before the
 * call: people see their own changes, and figures do not depend on the server.
 * @param askReplica must call `requirePosition` before it reads
 * @throws what `askPrimary` throws, and errors of `askReplica` that are not about the replica
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

/** The position up to which the primary's log is flushed. It includes every acknowledged commit. */
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
 * @throws NotCurrent if it has not within `deadlines.replica`, or was promoted and so no longer follows the primary
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
 * The state of a replica whose read failed: it did not answer, or cancelled the read to continue its replay (40001, 40P01). Undefined if
 * the error is not about the replica.
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

/** Checks the state of the replica. Takes at most three seconds, and never throws. @returns undefined if there is no replica */
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
