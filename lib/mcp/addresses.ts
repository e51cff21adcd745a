import { toolsPath } from "@/lib/access/oauth/addresses";
import { type Env, env } from "@/lib/env";
import { isLoopbackHost, serviceAddress, serviceOrigins } from "@/lib/service-address";

/** The host that MCP_URL gives the agent tools alone, with the path they have there; undefined where they share one. */
function ownMcpHost(settings: Env): { host: string; path: string } | undefined {
  if (settings.MCP_URL === undefined) return undefined;
  const { host, pathname } = new URL(settings.MCP_URL);
  if (host === new URL(serviceAddress(settings)).host) return undefined;
  return { host, path: pathname.replace(/(?<=.)\/+$/, "") };
}

/**
 * The path that serves a request: on the host of MCP_URL, where that is not the service's own, `/` and the URL's path
 * are the agent tools', with what says how to sign in to them. Elsewhere, and for every other path, the path itself.
 * @param target a request's path with its query
 */
export function servedPath(host: string | undefined, target: string, settings: Env = env()): string {
  const own = ownMcpHost(settings);
  if (!own || host?.toLowerCase() !== own.host) return target;
  const [path = ""] = target.split("?", 1);
  if (path === "/" || path === own.path) return toolsPath + target.slice(path.length);
  // How to sign in is told under the tools' path too (specification, section 4).
  return target.startsWith(`${own.path}/.well-known/`) ? toolsPath + target.slice(own.path.length) : target;
}

/** Whether a page from this origin may call: the service's own, one on this machine, one of MCP_ALLOWED_ORIGINS. */
export function isAllowedOrigin(origin: string, settings: Env = env()): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname: name, origin: normal } = new URL(origin);
  if (/^https?:$/.test(protocol) && isLoopbackHost(name)) return true;
  return [...serviceOrigins(settings), ...settings.MCP_ALLOWED_ORIGINS].includes(normal);
}
