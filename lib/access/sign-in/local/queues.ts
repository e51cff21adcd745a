import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { decodeJwt } from "jose";
import { Client, type ClientBase } from "pg";
import { bearerToken } from "@/lib/access/credentials";
import { providerUnavailable } from "@/lib/access/sign-in/provider-unavailable";
import { connectionTo } from "@/lib/db/connection";
import { databaseUrls, poolSizes } from "@/lib/db/pool";
import { sqlState } from "@/lib/db/transaction";
import { env, processCount } from "@/lib/env";
import { AuthProtocolError } from "./protocol";

// Three limits keep a flood of sign-ins from slowing other callers down: on the requests of one session, on password hashes, and
// on the transactions of the local sign-in.

/** Thrown if the allowed number of callers is waiting already. */
class FullError extends Error {}

/**
 * A semaphore: a limited number of callers run at once; the others wait in order of arrival, up to a bound. Each caller
 * that acquired a place must call `release` exactly once, also after a failure.
 */
class Semaphore {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly maxWaiting: number,
  ) {}

  /** Whether `acquire` would be refused now. */
  get isFull(): boolean {
    return this.#running >= this.atOnce && this.#waiting.length >= this.maxWaiting;
  }

  /** Whether no caller runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Waits for a place. @throws FullError at once if too many callers are waiting */
  async acquire(): Promise<void> {
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return;
    }
    if (this.isFull) throw new FullError("Too many are waiting.");
    // `release` passes its place to the first waiting caller, so #running does not change.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives the place to the first caller that waits. */
  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

function queueFull(what: string, seconds: number): AuthProtocolError {
  const message = `Too many ${what} are waiting. Try again in ${seconds} seconds.`;
  return new AuthProtocolError(429, "over_request_rate_limit", message, {}, { "Retry-After": `${seconds}` });
}

/**
 * How many requests of one session run at once, and how many more may wait. A page sends a handful. The workers of a service
 * share these numbers, and each runs at least one.
 */
const perSession = {
  atOnce: Math.max(1, Math.floor(2 / processCount())),
  waiting: Math.ceil(16 / processCount()),
};
/** How long a request that was answered 429 keeps its place: it slows programs that retry without waiting. */
const penaltyMs = 250;
/** How long a 429 for a full queue is delayed: hundreds of programs that retry at once are a load themselves. */
const holdMs = 1_000;

const sessions = new Map<string, Semaphore>();

/**
 * Limits how many requests of one session run at once. Further ones wait, before anything is verified or looked up, so
 * that a flood from one session leaves the processor and the connections to other callers.
 * @throws AuthProtocolError over_request_rate_limit with Retry-After if too many requests of the session are waiting
 */
export async function inSessionTurn<T>(request: Request, run: () => Promise<T>): Promise<T> {
  const session = claimedSession(request);
  if (session === undefined) return run();
  const semaphore = sessions.get(session) ?? new Semaphore(perSession.atOnce, perSession.waiting);
  sessions.set(session, semaphore);
  await semaphore.acquire().catch(async (error) => {
    if (!(error instanceof FullError)) throw error;
    await wait(holdMs, undefined, { ref: false });
    throw queueFull("requests of this session", 1);
  });
  const leave = () => {
    semaphore.release();
    if (semaphore.isIdle) sessions.delete(session);
  };
  try {
    const result = await run();
    leave();
    return result;
  } catch (error) {
    if (error instanceof AuthProtocolError && error.status === 429) setTimeout(leave, penaltyMs).unref();
    else leave();
    throw error;
  }
}

/**
 * The session that a request's token names, not verified: it decides only which queue the request joins. Undefined for
 * requests without a session's token, such as those with an API key, which are not limited here.
 */
function claimedSession(request: Request): string | undefined {
  const token = bearerToken(request.headers.get("authorization"));
  if (!token) return undefined;
  try {
    const { session_id: session } = decodeJwt(token);
    return typeof session === "string" ? session : undefined;
  } catch {
    return undefined;
  }
}

/**
 * At most half of the processors compute hashes; the others serve other calls. The workers of a service share this number,
 * and each computes at least one.
 */
const hashesAtOnce = Math.max(1, Math.floor(Math.min(4, availableParallelism() / 2) / processCount()));
/** A hash takes about 0.1 s, so the last request in the queue waits two to three seconds. */
const hashesWaiting = 20 * hashesAtOnce;
/** Longer than a slow machine needs for three hashes. */
const hashDeadlineMs = 5_000;

// The self-hosted server and Next's bundle in the same process each load this module; they must share one queue.
const globals = globalThis as { [key: symbol]: Semaphore | undefined };
const slot = Symbol.for("outlay.password-queue");
globals[slot] ??= new Semaphore(hashesAtOnce, hashesWaiting);
const passwords = globals[slot];

/**
 * Runs statements that compute password hashes (bcrypt, in the database), a few at a time per process, in order of
 * arrival. Uses a connection of its own, so that the shared pool never waits for a hash.
 * @throws AuthProtocolError over_request_rate_limit with Retry-After when too many are waiting
 * @throws ServiceError unavailable when the database cannot be reached
 */
export async function inPasswordQueue<T>(run: (client: ClientBase) => Promise<T>): Promise<T> {
  await passwords.acquire().catch((error) => {
    throw error instanceof FullError ? queueFull("passwords", 2) : error;
  });
  try {
    return await connected(run);
  } finally {
    passwords.release();
  }
}

/**
 * Refuses a request with a password while the queue is full, before anything is looked up or counted for it.
 * @throws AuthProtocolError as `inPasswordQueue`
 */
export function requirePlaceInQueue(): void {
  if (passwords.isFull) throw queueFull("passwords", 2);
}

async function connected<T>(run: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = new Client({
    ...connectionTo(databaseUrls().url),
    connectionTimeoutMillis: hashDeadlineMs,
    query_timeout: hashDeadlineMs,
  });
  // A connection that the server closes fails its statement; without a listener it would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return await run(client);
  } catch (error) {
    // Any error other than the database's answer to the statement means that the database could not be reached, went
    // away or took too long.
    throw /^(?!08|57P)[0-9A-Z]{5}$/.test(sqlState(error)) ? error : providerUnavailable(error);
  } finally {
    await client.end().catch(() => {});
  }
}

let transactions: Semaphore | undefined;

/**
 * Runs a transaction of the local sign-in. At most half of the connections for writing run such transactions at once;
 * further ones wait here, so that a flood of sign-ins leaves connections for recording. Calls must not be nested.
 */
export async function onSignInShare<T>(run: () => Promise<T>): Promise<T> {
  const atOnce = Math.max(1, Math.floor(poolSizes(env()).writing / 2));
  transactions ??= new Semaphore(atOnce, Number.POSITIVE_INFINITY);
  await transactions.acquire();
  try {
    return await run();
  } finally {
    transactions.release();
  }
}
