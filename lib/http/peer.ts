import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders } from "node:http";
import { env } from "@/lib/env";
import { isAddressIn } from "@/lib/keys/ip-range";
import { clientAddress } from "./client-address";

/**
 * The socket's remote address of a request, whether proxies added headers and named the caller, and whether our code has
 * asked for its session.
 */
type Origin = { peer: string | undefined; isForwarded: boolean; namesCaller: boolean; asked?: true };

// The self-hosted server sets it for requests that go through Next, whose Request does not know its socket and has
// forwarding headers that Next added. It is on the global object, because Next's bundle has a copy of this module.
const globals = globalThis as { [key: symbol]: AsyncLocalStorage<Origin> | undefined };
const slot = Symbol.for("outlay.peer");
globals[slot] ??= new AsyncLocalStorage();
const origins: AsyncLocalStorage<Origin> = globals[slot];

/** Headers that proxies add to requests. */
const forwardingHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-original-forwarded-for",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
];

/**
 * Calls `run` for a request and remembers its socket, for `callerAddress` and `isFromThisMachine`.
 * @param peer the socket's remote address
 * @param headers the request's headers as received
 */
export function withPeer<T>(peer: string | undefined, headers: IncomingHttpHeaders, run: () => T): T {
  return origins.run(
    originOf(peer, (name) => headers[name] !== undefined),
    run,
  );
}

function originOf(peer: string | undefined, has: (header: string) => boolean): Origin {
  return { peer, isForwarded: forwardingHeaders.some(has), namesCaller: has("x-forwarded-for") };
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
 * Whether a request was made on this machine. A request that a proxy on this machine forwarded was not, unless
 * TRUSTED_PROXIES names the proxy and the proxy names the caller's address.
 * @param peer the socket's remote address; by default that of the request which Next is answering
 */
export function isFromThisMachine(request: Pick<Request, "headers">, peer?: string): boolean {
  const origin =
    peer === undefined ? origins.getStore() : originOf(peer, (name) => request.headers.has(name));
  if (!origin || !isAddressIn(callerAddress(request, peer), ["127.0.0.0/8", "::1/128"])) return false;
  if (!origin.isForwarded) return true;
  return origin.namesCaller && isAddressIn(origin.peer, env().TRUSTED_PROXIES);
}
