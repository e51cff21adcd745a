import { setTimeout as wait } from "node:timers/promises";
import { type ClientBase, DatabaseError } from "pg";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { log } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { boolean, neverNull, text } from "./columns";
import { deadlines } from "./deadlines";
import { onClient } from "./lease";
import { sqlState } from "./outage";
import { askDatabase } from "./pool";
import { selectOne } from "./query";
import { sql } from "./sql";

/** How often a replica that is behind is asked again. */
const askAgainMs = 5;

/** How long a replica is not asked after it was behind or did not answer, so that not every read waits for it. */
const restMs = 1_000;

/** How a replica does: `behind` where it has not replayed in time what the primary had committed. */
export type ReplicaState = "ok" | "behind" | "failing";

class Behind extends Error {
  constructor() {
    super("The replica has not replayed what the primary had committed.");
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
      if (!isOfReplica(error)) throw error;
      restsUntilMs = performance.now() + restMs;
      note(error instanceof Behind ? "behind" : "failing", error);
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
 * @throws Error where it does not within `deadlines.replica`, or was promoted: then it does not follow the primary any more
 */
export async function requirePosition(client: ClientBase, position: string): Promise<void> {
  const giveUpAt = performance.now() + deadlines.replica;
  for (;;) {
    const { reached } = await selectOne(
      client,
      { reached: neverNull(boolean()) },
      sql`select pg_is_in_recovery() and coalesce(pg_last_wal_replay_lsn() >= ${position}::pg_lsn, false) as reached`,
    );
    if (reached) return;
    if (performance.now() >= giveUpAt) throw new Behind();
    await wait(askAgainMs);
  }
}

/** Whether a read failed because of the replica: it did not answer, or ended the read to go on with its replay (40001, 40P01). */
function isOfReplica(error: unknown): boolean {
  if (error instanceof Behind || ["40001", "40P01"].includes(sqlState(error))) return true;
  return error instanceof ServiceError && error.code === "unavailable";
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
    const found = await askDatabase("select pg_current_wal_flush_lsn()::text as position");
    if (found instanceof DatabaseError) return "failing";
    const position = String((found.rows[0] as { position?: unknown }).position);
    const giveUpAt = performance.now() + deadlines.replica;
    do {
      const asked = await askDatabase(
        `select pg_is_in_recovery() as follows, pg_last_wal_replay_lsn() >= '${position}' as reached`,
        "probing_replica",
      );
      const row = asked instanceof DatabaseError ? undefined : asked.rows[0];
      if (!row?.follows) return "failing";
      if (row.reached) return "ok";
      await wait(askAgainMs);
    } while (performance.now() < giveUpAt);
    return "behind";
  } catch {
    return "failing";
  }
}
