import { availableParallelism } from "node:os";
import { Client, type ClientBase } from "pg";
import { providerUnavailable } from "@/lib/access/sign-in/provider-unavailable";
import { connectionTo } from "@/lib/db/connection";
import { databaseUrls } from "@/lib/db/pool";
import { sqlState } from "@/lib/db/transaction";
import { processCount } from "@/lib/env";
import { AuthProtocolError } from "./protocol";
import { FullError, Semaphore } from "./semaphore";

/**
 * At most half of the processors compute hashes; the others serve other calls. The workers of a service share this number,
 * and each computes at least one.
 */
const atOnce = Math.max(1, Math.floor(Math.min(4, availableParallelism() / 2) / processCount()));
/** A hash takes about 0.1 s, so the last request in the queue waits two to three seconds. */
const maxWaiting = 20 * atOnce;
/** Longer than a slow machine needs for three hashes. */
const deadlineMs = 5_000;

// The self-hosted server and Next's bundle in the same process each load this module; they must share one queue.
const globals = globalThis as { [key: symbol]: Semaphore | undefined };
const slot = Symbol.for("outlay.password-queue");
globals[slot] ??= new Semaphore(atOnce, maxWaiting);
const queue = globals[slot];

/**
 * Runs statements that compute password hashes (bcrypt, in the database), a few at a time per process, in order of
 * arrival. Uses a connection of its own, so that the shared pool never waits for a hash.
 * @throws AuthProtocolError over_request_rate_limit with Retry-After when too many are waiting
 * @throws ServiceError unavailable when the database cannot be reached
 */
export async function inPasswordQueue<T>(run: (client: ClientBase) => Promise<T>): Promise<T> {
  await queue.acquire().catch((error) => {
    throw error instanceof FullError ? tooManyPasswords() : error;
  });
  try {
    return await connected(run);
  } finally {
    queue.release();
  }
}

/**
 * Refuses a request with a password while the queue is full, before anything is looked up or counted for it.
 * @throws AuthProtocolError as `inPasswordQueue`
 */
export function requirePlaceInQueue(): void {
  if (queue.isFull) throw tooManyPasswords();
}

function tooManyPasswords(): AuthProtocolError {
  const message = "Too many passwords are being checked at the moment. Try again in 2 seconds.";
  return new AuthProtocolError(429, "over_request_rate_limit", message, {}, { "Retry-After": "2" });
}

async function connected<T>(run: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new Client({
    ...connectionTo(databaseUrls().url),
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
  });
  // A connection that the server closes fails its statement; without a listener it would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return await run(client);
  } catch (error) {
    // Any error other than the database's answer to the statement means that the database could not be reached, went
    // away or took too long.
    const code = sqlState(error);
    throw /^(?!08|57P)[0-9A-Z]{5}$/.test(code) ? error : providerUnavailable(error);
  } finally {
    await client.end().catch(() => {});
  }
}
