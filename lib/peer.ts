import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "./env";
import { isAddressIn } from "./ip-range";

/** The socket's remote address of a request, and whether our code has asked for its session. */
type Origin = { peer: string | undefined; asked?: true };

// The self-hosted server sets it for requests that go through Next, whose Request does not know its socket. It is on the
// global object, because Next's bundle has a copy of this module.
const globals = globalThis as { [key: symbol]: AsyncLocalStorage<Origin> | undefined };
const slot = Symbol.for("outlay.peer");
globals[slot] ??= new AsyncLocalStorage();
const origins: AsyncLocalStorage<Origin> = globals[slot];

/** Calls `run` for a request and remembers its socket for `callerAddress`. @param peer the socket's remote address */
export function withPeer<T>(peer: string | undefined, run: () => T): T {
  return origins.run({ peer }, run);
}

/** Notes that our code asks for the session of the request which Next is answering. */
export function noteSessionAsked(): void {
  const origin = origins.getStore();
  if (origin) origin.asked = true;
}

/**
 * @returns a function that tells whether our code has asked for the session of this request. Every server action does so
 *   once it has read its arguments.
 */
export function watchSessionAsked(): () => boolean {
  const origin = origins.getStore();
  return () => origin?.asked === true;
}

/** The caller's address; undefined where it is unknown. @param peer the socket's remote address, where known */
export function callerAddress(
  request: Pick<Request, "headers">,
  peer: string | undefined,
): string | undefined {
  const { VERCEL, TRUSTED_PROXIES } = env();
  // Vercel's edge sets this header and overwrites what the client sent.
  if (VERCEL) return request.headers.get("x-vercel-forwarded-for")?.split(",")[0]?.trim();
  return clientAddress({
    peer: peer ?? origins.getStore()?.peer,
    forwardedFor: request.headers.get("x-forwarded-for"),
    trustedProxies: TRUSTED_PROXIES,
  });
}

/**
 * The address a request came from: the socket's, unless that is a trusted proxy. Then `X-Forwarded-For` is read from
 * the right, past every trusted proxy; the first untrusted address is the caller's. Addresses to its left could have
 * been forged by the caller and are ignored.
 */
export function clientAddress(from: {
  /** The socket's remote address. */
  peer: string | undefined;
  forwardedFor: string | null;
  /** CIDR ranges of the proxies in front of the service. */
  trustedProxies: readonly string[];
}): string | undefined {
  let caller = from.peer;
  const hops = (from.forwardedFor ?? "").split(",").map((hop) => hop.trim());
  while (isAddressIn(caller, from.trustedProxies)) {
    const previous = hops.pop();
    if (!previous) break;
    caller = withoutPort(previous);
  }
  return caller;
}

/** Some proxies write `203.0.113.7:51234` or `[2001:db8::1]:51234`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](:\d+)?$/.exec(hop);
  if (bracketed?.[1]) return bracketed[1];
  return /^\d+\.\d+\.\d+\.\d+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}
