import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "./env";
import { isAddressIn } from "./ip-range";

/**
 * The socket's remote address of a request, whether the service's code has read its session, and the headers of the answer if the page
 * failed because the database or the identity provider was away.
 */
type Origin = { peer: string | undefined; isSessionRead?: true; outage?: Record<string, string> };

// The self-hosted server sets the origin of requests that go through Next, because Next's Request does not have the socket. The storage is
// on the global object, because Next's bundle has its own copy of this module.
const globals = globalThis as { [key: symbol]: AsyncLocalStorage<Origin> | undefined };
const slot = Symbol.for("outlay.peer");
globals[slot] ??= new AsyncLocalStorage();
const origins: AsyncLocalStorage<Origin> = globals[slot];

/** Calls `run` for a request and keeps its peer for `callerAddress`. @param peer the socket's remote address */
export function withPeer<T>(peer: string | undefined, run: () => T): T {
  return origins.run({ peer }, run);
}

/** Records that the service's code reads the session of the request that Next is answering. */
export function recordSessionRead(): void {
  const origin = origins.getStore();
  if (origin) origin.isSessionRead = true;
}

/** Records that the page of this request failed with an `unavailable`. @param headers those of the error */
export function recordOutage(headers: Record<string, string>): void {
  const origin = origins.getStore();
  if (origin) origin.outage = headers;
}

/** @returns a function that returns what `recordOutage` has recorded of this request */
export function watchOutage(): () => Record<string, string> | undefined {
  const origin = origins.getStore();
  return () => origin?.outage;
}

/**
 * @returns a function that returns whether the service's code has read the session of this request. Every server action does so after it
 *   has read its arguments.
 */
export function watchSessionRead(): () => boolean {
  const origin = origins.getStore();
  return () => origin?.isSessionRead === true;
}

/** The caller's address; undefined if it is unknown. @param peer the socket's remote address, if known */
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
 * The address from which a request came: that of the socket, unless it is a trusted proxy. Then `X-Forwarded-For` is read from the right,
 * past every trusted proxy; the first other address is the caller's. Addresses to its left may be forged by the caller and are ignored.
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
