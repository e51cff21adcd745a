import { setTimeout as wait } from "node:timers/promises";
import { decodeJwt } from "jose";
import { bearerToken } from "@/lib/access/credentials";
import { AuthProtocolError } from "./protocol";
import { FullError, Turns } from "./turns";

/** How many requests of one session are answered at once, and how many more may wait: a page sends a handful. */
const bounds = { atOnce: 2, waiting: 16 };

/** How long a request that was answered "too many" keeps its turn: a program that does not wait finds itself waiting. */
const penaltyMs = 250;

/** How long a refusal for want of a turn is held back: hundreds of programs that try again at once are a load by themselves. */
const holdMs = 1_000;

const sessions = new Map<string, Turns>();

/**
 * Answers a few requests of each session at a time, before anything of them is verified or looked up: hundreds at once
 * from one session use neither the processor nor the connections that everybody else's requests need.
 * @throws AuthProtocolError over_request_rate_limit, with Retry-After, where too many of the session are waiting
 */
export async function inSessionTurn<T>(request: Request, run: () => Promise<T>): Promise<T> {
  const session = claimedSession(request);
  if (session === undefined) return run();
  const turns = sessions.get(session) ?? new Turns(bounds.atOnce, bounds.waiting);
  sessions.set(session, turns);
  await turns.enter().catch(async (error) => {
    if (!(error instanceof FullError)) throw error;
    await wait(holdMs, undefined, { ref: false });
    const message = "Too many requests of this session are waiting. Try again in 1 second.";
    throw new AuthProtocolError(429, "over_request_rate_limit", message, {}, { "Retry-After": "1" });
  });
  const leave = () => {
    turns.leave();
    if (turns.isIdle) sessions.delete(session);
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
 * The session that a request says it is of, unverified: it decides nothing but whose turns the request takes. A token
 * that is no session's, as the clients send for an API key, shares its turns with nobody.
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
