import { env } from "@/lib/env";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";

/** The path of the agent tools' endpoint on the service's own address. */
export const toolsPath = "/api/mcp";

/**
 * The authorization server's issuer for a request to `host`: the service's address. On this machine it is the name that
 * the request used (localhost or 127.0.0.1), because the browser's session belongs to that name.
 */
export function issuerAt(host: string | null): string {
  const local = loopbackName(host);
  return local ? new URL(local).origin : serviceAddress();
}

/** The address of the agent tools' endpoint on the service's own host; the default where a client names none. */
function ownResource(): string {
  return `${serviceAddress()}${toolsPath}`;
}

/** The public address of the agent tools' endpoint: MCP_URL where it is set. */
export function toolsAddress(): string {
  const { MCP_URL } = env();
  return MCP_URL ? canonical(MCP_URL) : ownResource();
}

/** The addresses of the agent tools' endpoint that an access token may be for, as stored with it. */
export function toolsResources(): string[] {
  const { MCP_URL } = env();
  return [...new Set([ownResource(), ...(MCP_URL ? [canonical(MCP_URL)] : [])])];
}

/**
 * The address of the agent tools' endpoint for a request to `host`: MCP_URL if `host` is its host; on this machine, the
 * name that the request used; otherwise the service's own. An unknown Host header never becomes part of it.
 * @param host the Host header
 */
export function resourceAt(host: string | null): string {
  const { MCP_URL } = env();
  if (MCP_URL && host?.toLowerCase() === new URL(MCP_URL).host) return canonical(MCP_URL);
  return loopbackName(host) ?? ownResource();
}

/**
 * The stored form of the address that a client names as `resource` (RFC 8707), or undefined if it is not ours. A
 * trailing slash is ignored, and so is which of this machine's names was used.
 */
export function ownResourceOf(named: string): string | undefined {
  if (!URL.canParse(named)) return undefined;
  const url = new URL(named);
  if (url.hash !== "" || url.username !== "" || url.password !== "") return undefined;
  const wanted = canonical(named);
  if (wanted === loopbackName(url.host)) return ownResource();
  return toolsResources().find((resource) => resource === wanted);
}

/** The address of a protected resource's metadata (RFC 9728): the well-known path is between host and path. */
export function metadataAddress(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`;
}

/** The last result of `loopbackName`, cached because callers of the agent tools name the same host in every call. */
let lastName: { host: string | null; address: string; name: string | undefined } | undefined;

/** The endpoint's address under a name of this machine; undefined unless the service and `host` are on it. */
function loopbackName(host: string | null): string | undefined {
  const address = serviceAddress();
  if (lastName?.host !== host || lastName.address !== address)
    lastName = { host, address, name: findLoopbackName(host, address) };
  return lastName.name;
}

function findLoopbackName(host: string | null, address: string): string | undefined {
  const own = new URL(address);
  if (!host || !isLoopbackHost(own.hostname) || !URL.canParse(`${own.protocol}//${host}`)) return undefined;
  const named = new URL(`${own.protocol}//${host}`);
  const isOwn = named.host === host && isLoopbackHost(named.hostname) && named.port === own.port;
  return isOwn ? `${named.origin}${toolsPath}` : undefined;
}

function canonical(address: string): string {
  return new URL(address).href.replace(/\/+$/, "");
}
