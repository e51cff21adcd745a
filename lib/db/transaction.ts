import type { PoolClient, QueryResult } from "pg";
import { metrics } from "@/lib/metrics";
import { traced } from "@/lib/tracing";
import { deadlines, statementTimeout } from "./deadlines";
import { asOutage, noteStored, sqlState, unavailable } from "./outage";
import { database, watch } from "./pool";
import { callFunction, execute } from "./query";
import { join, type Sql, sql, toLiteralText } from "./sql";
import type { GivenUp, WatchedCall } from "./watch";

export { sqlState } from "./outage";

/** What row-level security knows an API key by; see `private.key_claims()`. */
export type KeyClaims = {
  id: string;
  workspace_id: string;
  environment: "live" | "test";
  /** Slugs of the projects in scope; null: all but `deny`. */
  allow: string[] | null;
  deny: string[];
};

/** What row-level security knows a signed-in user by: the verified claims of their access token. */
export type UserClaims = {
  sub: string;
  role: "authenticated";
  session_id: string;
  email: string;
  /** Where the request came from, which the audit log keeps. Never the token's own word: whoever verified it says so. */
  caller_address?: string | undefined;
  [claim: string]: unknown;
};

/** What is run in a transaction. `now`: when it began, milliseconds since 1970 by the database's clock. */
type Run<T> = (client: PoolClient, now: number) => Promise<T>;

/**
 * Runs `run` in one transaction as the service itself.
 * @param deadlineMs how long it may take in all
 */
export function asService<T>(
  run: (client: PoolClient) => Promise<T>,
  deadlineMs: number = deadlines.request,
): Promise<T> {
  return onClient({ purpose: "writing", deadlineMs }, async (client) => {
    await client.query("begin");
    return committed(client, await run(client));
  });
}

/** Runs `run` as the service itself outside a transaction: for a statement that is one by itself. */
export function asServiceAlone<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  return onClient({ purpose: "writing", deadlineMs: deadlines.request, isAlone: true }, run);
}

/** Calls a function as the service itself, outside a transaction; see `callFunction`. */
export function callAsService<T>(name: string, ...values: unknown[]): Promise<T> {
  return asServiceAlone((client) => callFunction<T>(client, name, ...values));
}

/** Runs `run` in one read-only transaction, one snapshot, in which an API key's policies hold. */
export function asKey<T>(claims: KeyClaims, run: Run<T>): Promise<T> {
  const settings = { role: "outlay_key", "request.api_key": JSON.stringify(claims) };
  return inTransaction(reading(deadlines.request), settings, run);
}

/** Runs `run` in one transaction in which a user's policies hold, and whose changes are audited as theirs. */
export function asUser<T>(claims: UserClaims, run: Run<T>): Promise<T> {
  const how = { purpose: "writing" as const, deadlineMs: deadlines.request, begin: "begin" };
  return inTransaction(how, settingsOf(claims), run);
}

/**
 * As `asUser`, read-only and in one snapshot: figures that are read one after another agree. Waits for no connection
 * that recording needs.
 * @param deadlineMs how long it may take in all
 */
export function asUserReading<T>(
  claims: UserClaims,
  run: Run<T>,
  deadlineMs: number = deadlines.request,
): Promise<T> {
  return inTransaction(reading(deadlineMs), settingsOf(claims), run);
}

const reading = (deadlineMs: number) => ({
  purpose: "reading" as const,
  deadlineMs,
  begin: "begin isolation level repeatable read read only",
});

function settingsOf({ caller_address: address = "", ...token }: UserClaims): Record<string, string> {
  return { role: "authenticated", "request.jwt.claims": JSON.stringify(token), "request.address": address };
}

/**
 * Runs `run` as the service itself within a user's (or a key's) transaction, for what no user may do by themselves and
 * must not be committed without the rest: a key's secret, say. The user's claims stay, so that the audit log names them.
 * @param role whose the transaction is
 */
export async function asServiceWithin<T>(
  client: PoolClient,
  run: () => Promise<T>,
  role: "authenticated" | "outlay_key" = "authenticated",
): Promise<T> {
  await execute(client, setLocal({ role: "none" }));
  // Where this throws, the transaction is lost, and the role with it.
  const result = await run();
  await execute(client, setLocal({ role }));
  return result;
}

/** Sets settings until the transaction ends. @param more what else to select */
function setLocal(settings: Record<string, string>, more: Sql[] = []): Sql {
  const calls = Object.entries(settings).map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  return sql`select ${join([...calls, ...more])}`;
}

/**
 * Runs a transaction of the service in two round trips, for where a round trip's CPU counts: `open` goes out with the
 * begin, and the statements that `decide` makes of its answer with the commit. `open` has one row with one column, `answer`;
 * values are text.
 */
export function inTwoTrips<Answer, Result>(
  open: Sql,
  decide: (answer: Answer, client: PoolClient) => Promise<{ close: Sql[]; result: Result }>,
): Promise<Result> {
  return onClient({ purpose: "writing", deadlineMs: deadlines.request }, async (client) => {
    // Several statements in one text have several results, which pg's types do not know.
    const results: unknown = await client.query(`begin; ${toLiteralText(open)}`);
    const [, opened] = results as QueryResult<{ answer: Answer }>[];
    const row = opened?.rows[0];
    if (!row) throw new Error("A function call has one row.");
    const { close, result } = await decide(row.answer, client);
    await client.query([...close.map(toLiteralText), "commit"].join("; "));
    if (close.length > 0) noteStored();
    return result;
  });
}

/** What a transaction is begun with: one trip sets the role and the claims, and tells the time. */
async function inTransaction<T>(
  { begin, ...how }: Lease & { begin: string },
  settings: Record<string, string>,
  run: Run<T>,
): Promise<T> {
  const set = { ...settings, statement_timeout: statementTimeout(how.deadlineMs) };
  const opening = `${begin}; ${toLiteralText(setLocal(set, [sql`extract(epoch from now())::float8 * 1000 as now`]))}`;
  return onClient(how, async (client) => {
    // Several statements in one text have several results, which pg's types do not know.
    const results: unknown = await client.query(opening);
    const [, opened] = results as QueryResult<{ now: number }>[];
    const now = opened?.rows[0]?.now;
    if (now === undefined) throw new Error("A transaction began without telling the time.");
    return committed(client, await run(client, Math.floor(now)));
  });
}

async function committed<T>(client: PoolClient, result: T): Promise<T> {
  await client.query("commit");
  return result;
}

/** How a connection is borrowed. `isAlone`: for a statement outside a transaction. */
type Lease = { purpose: "writing" | "reading"; deadlineMs: number; isAlone?: boolean };

/**
 * Lends `run` a connection for a transaction; what it throws rolls back. A call that does not end by its deadline, or
 * under which the database falls silent, has its connection closed, which ends the statement under way on this side.
 * @throws ServiceError unavailable where the database cannot be asked, takes too long, or can store nothing
 */
async function onClient<T>(
  { purpose, deadlineMs, isAlone = false }: Lease,
  run: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const call = watch.begin(deadlineMs);
  let client: PoolClient | undefined;
  let broken: Error | undefined;
  try {
    const connected = await connect(purpose, call);
    client = connected;
    return await traced("database transaction", { "outlay.purpose": purpose }, () => run(connected));
  } catch (error) {
    if (client && !isAlone && !call.givenUp) {
      await client.query("rollback").catch((failure: Error) => {
        broken = failure;
      });
    }
    throw asOutage(error, { givenUp: call.givenUp, isReading: purpose === "reading" }) ?? error;
  } finally {
    watch.finish(call);
    metrics.databaseCalls.observe({ purpose }, (performance.now() - call.startedMs) / 1000);
    // A connection that could not even roll back, or whose answer was not awaited, is closed, not handed on.
    client?.release(call.givenUp ? true : broken);
  }
}

/** A connection of the pool; closed as soon as its call is given up. */
function connect(purpose: Lease["purpose"], call: WatchedCall): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    const giveUp = (reason: GivenUp) => reject(unavailable(reason));
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
        (error) => reject(unavailable("unreachable", error)),
      );
  });
}

/** The name of the constraint that a statement violated, or an empty string. */
export function violatedConstraint(error: unknown): string {
  const name = error instanceof Error && "constraint" in error ? error.constraint : undefined;
  return typeof name === "string" ? name : "";
}

/** Another transaction was in the way (serialization failure, deadlock): the whole transaction may run again. */
export function isContention(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}
