import { toolsPath } from "@/lib/access/oauth/addresses";
import { type Env, env } from "@/lib/env";
import { isLoopbackHost, serviceAddress, serviceOrigins } from "@/lib/service-address";

/** The host and path of MCP_URL; undefined when MCP_URL is not set or has the host of the service itself. */
function ownMcpHost(settings: Env): { host: string; path: string } | undefined {
  if (settings.MCP_URL === undefined) return undefined;
  const { host, pathname } = new URL(settings.MCP_URL);
  if (host === new URL(serviceAddress(settings)).host) return undefined;
  return { host, path: pathname.replace(/(?<=.)\/+$/, "") };
}

/**
 * The path by which a request is routed. If MCP_URL has a host of its own, `/` and the path of MCP_URL on that host
 * become the path of the agent tools, and so does the sign-in metadata below it. Every other path stays unchanged.
 * @param target a request's path with its query
 */
export function servedPath(host: string | undefined, target: string, settings: Env = env()): string {
  const own = ownMcpHost(settings);
  if (!own || host?.toLowerCase() !== own.host) return target;
  const [path = ""] = target.split("?", 1);
  if (path === "/" || path === own.path) return toolsPath + target.slice(path.length);
  // The sign-in metadata is served under the path of the tools too (RFC 9728 section 3.1).
  return target.startsWith(`${own.path}/.well-known/`) ? toolsPath + target.slice(own.path.length) : target;
}

/** Whether pages of an origin may call: the service's own origins, loopback, and MCP_ALLOWED_ORIGINS. */
export function isAllowedOrigin(origin: string, settings: Env = env()): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname: name, origin: normal } = new URL(origin);
  if (/^https?:$/.test(protocol) && isLoopbackHost(name)) return true;
  return [...serviceOrigins(settings), ...settings.MCP_ALLOWED_ORIGINS].includes(normal);
}
