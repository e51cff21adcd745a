import { isIP } from "node:net";
import { type Env, env } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";

/** Names that no public resolver knows (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`). */
const privateName = /(^|\.)(localhost|local|internal|lan|home|corp|test|invalid|home\.arpa)$/;

/**
 * The address at which a provider sends OTLP to this service, without the path of a signal; or why there is none, and what to do.
 * A provider that PROVIDER_URLS sends elsewhere, such as to a gateway inside, may reach an internal address.
 * @param provider as in PROVIDER_URLS
 */
export function receivingAddress(
  provider: string,
  settings: Env = env(),
): { base: string } | { problem: string } {
  const address = serviceAddress(settings);
  const base = `${address}/api/otlp`;
  if (settings.PROVIDER_URLS.urls.has(provider)) return { base };
  const { protocol, hostname, port } = new URL(address);
  const isPublic =
    protocol === "https:" &&
    isIP(hostname.replace(/^\[|\]$/g, "")) === 0 &&
    hostname.includes(".") &&
    !privateName.test(hostname);
  if (!isPublic)
    return {
      problem: `The provider cannot reach this service: its address is ${address}. Whoever runs it sets BASE_URL to a public https address with a host name.`,
    };
  if (port !== "")
    return {
      problem: `Providers send to port 443 only, and this service's address is ${address}. Whoever runs it sets BASE_URL to an https address without a port.`,
    };
  return { base };
}
