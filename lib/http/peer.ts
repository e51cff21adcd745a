import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "@/lib/env";
import { clientAddress } from "./client-address";

// Set by the self-hosted server round requests that go through Next, whose Request does not know its socket. On the
// global object, because Next's bundle has a copy of this module of its own.
const globals = globalThis as { [key: symbol]: AsyncLocalStorage<string | undefined> | undefined };
const slot = Symbol.for("outlay.peer");
globals[slot] ??= new AsyncLocalStorage();
const peers: AsyncLocalStorage<string | undefined> = globals[slot];

/** Runs `run` for a request whose socket's remote address is `peer`. */
export function withPeer<T>(peer: string | undefined, run: () => T): T {
  return peers.run(peer, run);
}

/** The caller's address, or undefined where it cannot be known. @param peer the socket's, where the caller has it */
export function callerAddress(
  request: Pick<Request, "headers">,
  peer: string | undefined,
): string | undefined {
  const { VERCEL, TRUSTED_PROXIES } = env();
  // Vercel's edge sets this header itself and overwrites what a client sends.
  if (VERCEL) return request.headers.get("x-vercel-forwarded-for")?.split(",")[0]?.trim();
  return clientAddress({
    peer: peer ?? peers.getStore(),
    forwardedFor: request.headers.get("x-forwarded-for"),
    trustedProxies: TRUSTED_PROXIES,
  });
}
