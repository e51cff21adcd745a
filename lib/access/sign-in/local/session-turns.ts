import { setTimeout as wait } from "node:timers/promises";
import { decodeJwt } from "jose";
import { bearerToken } from "@/lib/access/credentials";
import { processCount } from "@/lib/env";
import { AuthProtocolError } from "./protocol";
import { FullError, Semaphore } from "./semaphore";

/**
 * How many requests of one session run at once, and how many more may wait. A page sends a handful. The workers of a service
 * share these numbers, and each runs at least one.
 */
const bounds = {
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
 * @throws AuthProtocolError over_request_rate_limit with Retry-After where too many requests of the session are waiting
 */
export async function inSessionTurn<T>(request: Request, run: () => Promise<T>): Promise<T> {
  const session = claimedSession(request);
  if (session === undefined) return run();
  const semaphore = sessions.get(session) ?? new Semaphore(bounds.atOnce, bounds.waiting);
  sessions.set(session, semaphore);
  await semaphore.acquire().catch(async (error) => {
    if (!(error instanceof FullError)) throw error;
    await wait(holdMs, undefined, { ref: false });
    const message = "Too many requests of this session are waiting. Try again in 1 second.";
    throw new AuthProtocolError(429, "over_request_rate_limit", message, {}, { "Retry-After": "1" });
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
