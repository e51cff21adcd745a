import { isAddressIn } from "./ip-range";

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
