import { escapeLiteral, type PoolClient } from "pg";
import { ServiceError } from "@/lib/errors";
import { database } from "./pool";

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

/** Runs `run` in one transaction in which a user's policies hold. */
export function asUser<T>(claims: UserClaims, run: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(
    `begin; ${setLocal({ role: "authenticated", "request.jwt.claims": JSON.stringify(claims), statement_timeout: "8s" })}`,
    run,
  );
}

function setLocal(settings: Record<string, string>): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${escapeLiteral(value)}, true)`,
  );
  return `select ${calls.join(", ")}`;
}

async function inTransaction<T>(begin: string, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await run(client);
    await client.query("commit");
    return result;
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

/** Another transaction was in the way (serialization failure, deadlock): the whole transaction may run again. */
export function isContention(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}
