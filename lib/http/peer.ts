import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "@/lib/env";
import { clientAddress } from "./client-address";

// The self-hosted server sets the socket's remote address for requests that go through Next, whose Request does not know its
// socket. It is on the global object, because Next's bundle has a copy of this module.
const globals = globalThis as { [key: symbol]: AsyncLocalStorage<string | undefined> | undefined };
const slot = Symbol.for("outlay.peer");
globals[slot] ??= new AsyncLocalStorage();
const peers: AsyncLocalStorage<string | undefined> = globals[slot];

/** Calls `run` for a request and remembers its socket for `callerAddress`. @param peer the socket's remote address */
export function withPeer<T>(peer: string | undefined, run: () => T): T {
  return peers.run(peer, run);
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
    peer: peer ?? peers.getStore(),
    forwardedFor: request.headers.get("x-forwarded-for"),
    trustedProxies: TRUSTED_PROXIES,
  });
}
