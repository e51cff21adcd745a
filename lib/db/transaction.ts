import type { ClientBase, PoolClient, QueryResult } from "pg";
import { deadlines, statementTimeout } from "./deadlines";
import { type Lease, onClient } from "./lease";
import { OneStatement } from "./one-statement";
import { clearWriteFailure, sqlState } from "./outage";
import { callFunction, execute } from "./query";
import { preferReplica, requirePosition } from "./replica";
import { join, type Sql, sql, toLiteralText } from "./sql";

export { sqlState } from "./outage";

/** An API key's claims for row-level security; see `private.key_claims()`. */
export type KeyClaims = {
  id: string;
  workspace_id: string;
  environment: "live" | "test";
  /** Slugs of the projects in scope; null for all except `deny`. */
  allow: string[] | null;
  deny: string[];
  /** The only users in scope; absent for all. */
  users?: string[];
};

/** A signed-in user's claims for row-level security: those of their verified access token. */
export type UserClaims = {
  sub: string;
  role: "authenticated";
  session_id: string;
  email: string;
  /** The request's address, for the audit log. It is set by our code after verification, never taken from the token. */
  caller_address?: string | undefined;
  [claim: string]: unknown;
};

/** The body of a transaction. `now`: the database's time at its start, in milliseconds since 1970. */
type Run<T> = (client: PoolClient, now: number) => Promise<T>;

/**
 * Calls `run` in one transaction as the service.
 * @param deadlineMs how long the transaction may take in total
 * @throws ServiceError unavailable if the database cannot be used; what `run` throws, after a rollback
 */
export function asService<T>(
  run: (client: PoolClient) => Promise<T>,
  deadlineMs: number = deadlines.request,
): Promise<T> {
  return onClient({ purpose: "writing", deadlineMs }, async (client) => {
    await client.query("begin");
    const result = await run(client);
    await client.query("commit");
    return result;
  });
}

/**
 * Calls `run` as the service without a transaction, for a single statement.
 * @param owners the requests that it is for; see `traced`
 * @throws ServiceError unavailable
 */
export function asServiceAlone<T>(
  run: (client: PoolClient) => Promise<T>,
  owners: readonly object[] = [],
): Promise<T> {
  return onClient({ purpose: "writing", deadlineMs: deadlines.request, isAlone: true, owners }, run);
}

/** Calls a function of the database as the service, without a transaction; see `callFunction`. */
export function callAsService<T>(name: string, ...values: unknown[]): Promise<T> {
  return asServiceAlone((client) => callFunction<T>(client, name, ...values));
}

/**
 * Calls `run` in one read-only transaction (one snapshot) under an API key's policies.
 * @param deadlineMs how long the transaction may take in total
 * @throws ServiceError unavailable
 */
export function asKey<T>(claims: KeyClaims, run: Run<T>, deadlineMs: number = deadlines.request): Promise<T> {
  return inTransaction(reading(deadlineMs, [claims]), keySettings(claims), run);
}

/**
 * Calls `run` in one transaction as the service, for what an API key asks the service to write. The audit log names the key.
 * @throws ServiceError unavailable
 */
export function asKeyWriting<T>(claims: KeyClaims, run: Run<T>): Promise<T> {
  return inTransaction(writing([claims]), { "request.api_key": JSON.stringify(claims) }, run);
}

function keySettings(claims: KeyClaims): Record<string, string> {
  return { role: "outlay_key", "request.api_key": JSON.stringify(claims) };
}

/**
 * Calls `run` under an API key's policies with a client for one statement, which is sent together with the beginning and the
 * end of its read-only transaction, in one round trip. The statement's values must be text or null. It is planned at each
 * call, so a statement that takes long to plan belongs into a PL/pgSQL function.
 * @throws ServiceError unavailable
 */
export function asKeyAtOnce<T>(claims: KeyClaims, run: (client: ClientBase) => Promise<T>): Promise<T> {
  return atOnce([claims], keySettings(claims), run);
}

/**
 * Like `asKeyAtOnce`, for one statement that reads for several keys. The statement is a call of a function that sets each
 * key's claims (`request.api_key`) before it reads for it; without claims, the policies show nothing.
 * @param run also gets the claims, to pass them to the function
 * @throws ServiceError unavailable
 */
export function asKeysAtOnce<T>(
  claims: KeyClaims[],
  run: (client: ClientBase, claims: KeyClaims[]) => Promise<T>,
): Promise<T> {
  return atOnce(claims, { role: "outlay_key" }, (client) => run(client, claims));
}

function atOnce<T>(
  owners: readonly object[],
  settings: Record<string, string>,
  run: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const how = reading(deadlines.request, owners);
  return onClient(how, (client) => run(new OneStatement(client, openingOf(how, settings)).asClient()));
}

/** Calls `run` in one transaction under a user's policies. The audit log names the user. @throws ServiceError unavailable */
export function asUser<T>(claims: UserClaims, run: Run<T>): Promise<T> {
  return inTransaction(writing([claims]), settingsOf(claims), run);
}

/**
 * Like `asUser`, but rolls back at the end, so that a preview does exactly the same as the change without storing anything.
 * @throws ServiceError unavailable
 */
export function asUserPreviewing<T>(claims: UserClaims, run: Run<T>): Promise<T> {
  return inTransaction({ ...writing([claims]), end: "rollback" }, settingsOf(claims), run);
}

/**
 * Like `asUser`, read-only and in one snapshot, so that figures which are read one after another agree. Uses the connections for reading,
 * so that it never takes one that recording needs. If there is a replica with everything that was committed before this call, it is
 * read; if it fails, `run` is called again on the primary.
 * @param deadlineMs how long the transaction may take in total. If it is longer than for a page of an export, the primary is read, because
 *   a replica cancels long reads that delay its replay
 * @throws ServiceError unavailable
 */
export function asUserReading<T>(
  claims: UserClaims,
  run: Run<T>,
  deadlineMs: number = deadlines.request,
): Promise<T> {
  const how = reading(deadlineMs, [claims]);
  const askPrimary = () => inTransaction(how, settingsOf(claims), run);
  if (deadlineMs > deadlines.exportPage) return askPrimary();
  return preferReplica(
    (position) => inTransaction({ ...how, purpose: "replica", position }, settingsOf(claims), run),
    askPrimary,
  );
}

const writing = (owners: readonly object[]) => ({
  purpose: "writing" as const,
  deadlineMs: deadlines.request,
  owners,
  begin: "begin",
});

const reading = (deadlineMs: number, owners: readonly object[]) => ({
  purpose: "reading" as const,
  deadlineMs,
  owners,
  begin: "begin isolation level repeatable read read only",
});

function settingsOf({ caller_address: address = "", ...token }: UserClaims): Record<string, string> {
  return { role: "authenticated", "request.jwt.claims": JSON.stringify(token), "request.address": address };
}

/**
 * Calls `run` as the service within the transaction of a user or key, for changes that users may not make themselves and that must be
 * committed together with the user's changes, such as a key's secret. The claims stay set, so that the audit log names the user.
 * @param role the role to which the transaction returns
 */
export async function asServiceWithin<T>(
  client: ClientBase,
  run: () => Promise<T>,
  role: "authenticated" | "outlay_key" = "authenticated",
): Promise<T> {
  await execute(client, setLocal({ role: "none" }));
  // If this throws, the transaction fails and its role ends with it.
  const result = await run();
  await execute(client, setLocal({ role }));
  return result;
}

/** A statement that sets settings until the transaction ends. @param more further columns to select */
function setLocal(settings: Record<string, string>, more: Sql[] = []): Sql {
  const calls = Object.entries(settings).map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  return sql`select ${join([...calls, ...more])}`;
}

/**
 * Runs a transaction as the service in two round trips, for calls so frequent that a round trip's CPU time matters. The
 * first trip has `begin` and `open`; the second has the statements that `decide` returns, and `commit`. `open` must
 * return one row with one column, `answer`. Values must be text or null.
 * @param owners the requests that it is for; see `traced`
 * @throws ServiceError unavailable; what `decide` throws, after a rollback
 */
export function inTwoRoundTrips<Answer, Result>(
  open: Sql,
  decide: (answer: Answer, client: PoolClient) => Promise<{ close: Sql[]; result: Result }>,
  owners: readonly object[],
): Promise<Result> {
  return onClient({ purpose: "writing", deadlineMs: deadlines.request, owners }, async (client) => {
    // Several statements in one text have several results, which pg's types do not express.
    const results: unknown = await client.query(`begin; ${toLiteralText(open)}`);
    const [, opened] = results as QueryResult<{ answer: Answer }>[];
    const row = opened?.rows[0];
    if (!row) throw new Error("The function returned no row.");
    const { close, result } = await decide(row.answer, client);
    await client.query([...close.map(toLiteralText), "commit"].join("; "));
    if (close.length > 0) clearWriteFailure();
    return result;
  });
}

/**
 * Begins a transaction, sets its role, claims and time limit and reads the time, in one round trip; then calls `run`, and commits
 * unless `end` says otherwise.
 * @param how.position for a replica: the position that it must have replayed
 */
async function inTransaction<T>(
  how: Lease & { begin: string; end?: "rollback"; position?: string },
  settings: Record<string, string>,
  run: Run<T>,
): Promise<T> {
  const opening = openingOf(how, settings);
  return onClient(how, async (client) => {
    if (how.position !== undefined) await requirePosition(client, how.position);
    // Several statements in one text have several results, which pg's types do not express.
    const results: unknown = await client.query(opening);
    const [, opened] = results as QueryResult<{ now: number }>[];
    const now = opened?.rows[0]?.now;
    if (now === undefined) throw new Error("The transaction did not read the database's time.");
    const result = await run(client, Math.floor(now));
    await client.query(how.end ?? "commit");
    return result;
  });
}

/** The statements that begin a transaction and set its settings; the second one also selects the time, `now`. */
function openingOf(
  { begin, deadlineMs }: Lease & { begin: string },
  settings: Record<string, string>,
): string {
  const set = { ...settings, statement_timeout: statementTimeout(deadlineMs) };
  return `${begin}; ${toLiteralText(setLocal(set, [sql`extract(epoch from now())::float8 * 1000 as now`]))}`;
}

/** The name of the constraint that a statement violated; empty for other errors. */
export function violatedConstraint(error: unknown): string {
  const name = error instanceof Error && "constraint" in error ? error.constraint : undefined;
  return typeof name === "string" ? name : "";
}

/** Whether an error is a conflict with another transaction (serialization failure, deadlock), so that a retry may succeed. */
export function isContention(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}
