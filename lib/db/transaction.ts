import type { PoolClient, QueryResult } from "pg";
import { ServiceError } from "@/lib/errors";
import { database } from "./pool";
import { quoteLiteral } from "./quote-literal";

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

/** Runs `run` in one transaction as the service itself. */
export function asService<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction("begin", run);
}

/** Runs `run` as the service itself outside a transaction: for a statement that is one by itself. */
export async function asServiceAlone<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect();
  try {
    return await run(client);
  } catch (error) {
    throw isOutage(error) ? unavailable(error) : error;
  } finally {
    client.release();
  }
}

/** Runs `run` in one read-only transaction, one snapshot, in which an API key's policies hold. */
export function asKey<T>(claims: KeyClaims, run: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(
    `begin isolation level repeatable read read only; ${setLocal({ role: "outlay_key", "request.api_key": JSON.stringify(claims), statement_timeout: "8s" })}`,
    run,
  );
}

/** Runs `run` in one transaction in which a user's policies hold, and whose changes are audited as theirs. */
export function asUser<T>(claims: UserClaims, run: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(`begin; ${setUser(claims)}`, run);
}

/** As `asUser`, read-only and in one snapshot: figures that are read one after another agree. */
export function asUserReading<T>(claims: UserClaims, run: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(`begin isolation level repeatable read read only; ${setUser(claims)}`, run);
}

function setUser({ caller_address: address = "", ...token }: UserClaims): string {
  return setLocal({
    role: "authenticated",
    "request.jwt.claims": JSON.stringify(token),
    "request.address": address,
    statement_timeout: "8s",
  });
}

/**
 * Runs `run` as the service itself within a user's (or a key's) transaction, for what no user may do by themselves and
 * must not be committed without the rest: a key's secret, say. The user's claims stay, so that the audit log names them.
 * @param role whose the transaction is
 */
export async function steppedBack<T>(
  client: PoolClient,
  run: () => Promise<T>,
  role: "authenticated" | "outlay_key" = "authenticated",
): Promise<T> {
  await client.query(setLocal({ role: "none" }));
  // Where this throws, the transaction is lost, and the role with it.
  const result = await run();
  await client.query(setLocal({ role }));
  return result;
}

function setLocal(settings: Record<string, string>): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`,
  );
  return `select ${calls.join(", ")}`;
}

/** A call of a function of the schema `private` with JSON arguments, as the text of a statement. */
export function callText(name: string, ...json: unknown[]): string {
  return `select private.${name}(${json.map((value) => quoteLiteral(JSON.stringify(value))).join(", ")}) as answer`;
}

/**
 * Runs a transaction of the service in two round trips, for where a round trip's CPU counts: `open` goes out with the
 * begin, and the statements that `decide` makes of its answer with the commit. Statements are texts of `callText`.
 */
export function inTwoTrips<Answer, Result>(
  open: string,
  decide: (answer: Answer, client: PoolClient) => Promise<{ close: string[]; result: Result }>,
): Promise<Result> {
  return onClient(async (client) => {
    // Several statements in one text have several results, which pg's types do not know.
    const results: unknown = await client.query(`begin; ${open}`);
    const [, opened] = results as QueryResult<{ answer: Answer }>[];
    const row = opened?.rows[0];
    if (!row) throw new Error("A function call has one row.");
    const { close, result } = await decide(row.answer, client);
    await client.query([...close, "commit"].join("; "));
    return result;
  });
}

function inTransaction<T>(begin: string, run: (client: PoolClient) => Promise<T>): Promise<T> {
  return onClient(async (client) => {
    await client.query(begin);
    const result = await run(client);
    await client.query("commit");
    return result;
  });
}

/** Lends `run` a connection for a transaction; what it throws rolls back. */
async function onClient<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect();
  let broken: Error | undefined;
  try {
    return await run(client);
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw isOutage(error) ? unavailable(error) : error;
  } finally {
    // A connection that could not even roll back is closed, not handed to the next caller.
    client.release(broken);
  }
}

async function connect(): Promise<PoolClient> {
  try {
    return await database().connect();
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): ServiceError {
  const error = new ServiceError(
    "unavailable",
    "The database cannot be reached at the moment. Try again shortly; with an idempotency_key, a retry is never counted twice.",
    {},
    { "Retry-After": "1" },
  );
  error.cause = cause;
  return error;
}

/** The connection or the server went away: SQLSTATE classes 08 and 57P, or a socket error. */
function isOutage(error: unknown): boolean {
  const code = sqlState(error);
  if (/^(08|57P)/.test(code) || /^E[A-Z_]+$/.test(code)) return true;
  // What pg says without a code: of a query the connection was lost under, and of one that came after.
  return error instanceof Error && /^Connection terminated|is not queryable$/.test(error.message);
}

/** The SQLSTATE (or Node error code) of an error, or an empty string. */
export function sqlState(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
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
