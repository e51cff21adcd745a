import { request } from "node:http";
import { isIP } from "node:net";
import { connectOutside, isAllowedHost, isPublicAddress, type OutsideNetwork } from "@/lib/outside/connect";

/** A request to a receiver. `body` is JSON. */
export type OutgoingRequest = { url: string; headers: Record<string, string>; body: string };

/** The head of a receiver's response. The body is not read. */
export type Response = { status: number; retryAfter: string | undefined };

/** Thrown for an address that no channel may have. The message says why. */
export class RefusedAddress extends Error {
  override name = "RefusedAddress";
}

/**
 * Parses a receiver's address: https with a host that may be public, or http if the setting allows the host.
 * @param allowed hosts that may be internal (`ALERT_ALLOWED_HOSTS`)
 * @throws RefusedAddress
 */
export function parseReceiver(address: string, allowed: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new RefusedAddress("must be an https address");
  if (url.username || url.password) throw new RefusedAddress("must not have a user name or a password in it");
  const host = hostOf(url);
  const isAllowed = isAllowedHost(host, allowed);
  if (url.protocol === "http:" && !isAllowed)
    throw new RefusedAddress("must be an https address; plain http is for hosts in ALERT_ALLOWED_HOSTS");
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host))
    throw new RefusedAddress(
      "must not have an internal address as its host, unless ALERT_ALLOWED_HOSTS has it",
    );
  return url;
}

/** A URL's host as a name or an address, without the brackets of IPv6. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/**
 * Posts to an address that a user chose. To protect internal networks, the host's addresses are resolved and checked at each
 * call, and redirects are not followed.
 * @throws RefusedAddress, InternalAddress, errors of the connection, or the signal's reason
 */
export async function post(
  { url: address, headers, body }: OutgoingRequest,
  { network, allowed, signal }: { network: OutsideNetwork; allowed: readonly string[]; signal: AbortSignal },
): Promise<Response> {
  const url = parseReceiver(address, allowed);
  const isEncrypted = url.protocol === "https:";
  const port = url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port);
  const connection = await connectOutside({ host: hostOf(url), port, isEncrypted }, network, signal, allowed);
  try {
    return await new Promise((resolve, reject) => {
      const outgoing = request({
        createConnection: () => connection,
        method: "POST",
        path: url.pathname + url.search,
        headers: {
          Host: url.host,
          "User-Agent": "Outlay",
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(body)),
          Connection: "close",
          ...headers,
        },
        signal,
      });
      outgoing.once("error", reject);
      outgoing.once("response", (incoming) => {
        incoming.on("error", () => {});
        resolve({ status: incoming.statusCode ?? 0, retryAfter: incoming.headers["retry-after"] });
      });
      outgoing.end(body);
    });
  } finally {
    connection.destroy();
  }
}
