import { env } from "@/lib/env";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";

/** The path of the agent tools' endpoint on the service's own address. */
export const toolsPath = "/api/mcp";

/**
 * What the authorization server calls itself to a caller that sent a request to `host`: the service's address, or this
 * machine's own name that was used, under which a browser has its session.
 */
export function issuerAt(host: string | null): string {
  const local = loopbackName(host);
  return local ? new URL(local).origin : serviceAddress();
}

/** The address of the agent tools' endpoint on the service's own host: what is meant where a client names none. */
function ownResource(): string {
  return `${serviceAddress()}${toolsPath}`;
}

/** The address of the agent tools' endpoint that people are told: MCP_URL where there is one. */
export function toolsAddress(): string {
  const { MCP_URL } = env();
  return MCP_URL ? canonical(MCP_URL) : ownResource();
}

/** The addresses of the agent tools' endpoint that an access token may be for, as they are kept with it. */
export function toolsResources(): string[] {
  const { MCP_URL } = env();
  return [...new Set([ownResource(), ...(MCP_URL ? [canonical(MCP_URL)] : [])])];
}

/**
 * The address of the agent tools' endpoint as a caller knows it that sent a request to `host`: MCP_URL on its host; on
 * this machine the name of it that was used; the service's own for everybody else. Never what a Host header says of its
 * own accord.
 * @param host the Host header
 */
export function resourceAt(host: string | null): string {
  const { MCP_URL } = env();
  if (MCP_URL && host?.toLowerCase() === new URL(MCP_URL).host) return canonical(MCP_URL);
  return loopbackName(host) ?? ownResource();
}

/**
 * The kept form of the address that a client names as `resource` (RFC 8707), or undefined where it is not ours. What
 * differs only in a closing slash, or in this machine's name, is the same address.
 */
export function ownResourceOf(named: string): string | undefined {
  if (!URL.canParse(named)) return undefined;
  const url = new URL(named);
  if (url.hash !== "" || url.username !== "" || url.password !== "") return undefined;
  const wanted = canonical(named);
  if (wanted === loopbackName(url.host)) return ownResource();
  return toolsResources().find((resource) => resource === wanted);
}

/**
 * Where the metadata of a protected resource is found (RFC 9728): the well-known path goes between host and path.
 */
export function metadataAddress(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`;
}

/** A service on this machine is the same under each of the machine's own names, on its port. */
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
