import { env } from "@/lib/env";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";

/** The path of the agent tools' endpoint on the service's own address. */
export const toolsPath = "/api/mcp";

/**
 * The authorization server's issuer for a request to `host`: the service's address, or the name of this machine that
 * was used, under which a browser has its session.
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
 * The address of the agent tools' endpoint for a request to `host`: MCP_URL on its host; on this machine the name that
 * was used; otherwise the service's own. Never built from an unknown Host header.
 * @param host the Host header
 */
export function resourceAt(host: string | null): string {
  const { MCP_URL } = env();
  if (MCP_URL && host?.toLowerCase() === new URL(MCP_URL).host) return canonical(MCP_URL);
  return loopbackName(host) ?? ownResource();
}

/**
 * The stored form of the address that a client names as `resource` (RFC 8707), or undefined where it is not ours. A
 * closing slash or another name of this machine make no difference.
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

/** A service on this machine is the same under each of the machine's names, on its port. */
function loopbackName(host: string | null): string | undefined {
  const own = new URL(serviceAddress());
  if (!host || !isLoopbackHost(own.hostname) || !URL.canParse(`${own.protocol}//${host}`)) return undefined;
  const named = new URL(`${own.protocol}//${host}`);
  const isOwn = named.host === host && isLoopbackHost(named.hostname) && named.port === own.port;
  return isOwn ? `${named.origin}${toolsPath}` : undefined;
}

function canonical(address: string): string {
  return new URL(address).href.replace(/\/+$/, "");
}
