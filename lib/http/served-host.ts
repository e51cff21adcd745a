import { type Env, env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { isLoopbackHost, serviceOrigins } from "@/lib/service-address";
import { errorResponse, newRequestId } from "./reply";
import { securityHeaders } from "./security-headers";

/**
 * `host [ ":" port ]` (RFC 9110 section 7.2), without what browsers never send: user information, escapes, a trailing
 * dot.
 */
const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?::\d{0,5})?$/i;

const bareAddress = /^(\d{1,3}(\.\d{1,3}){3}|\[.+\])$/;

/**
 * Whether this service answers requests for a host: the names of its own addresses (`serviceOrigins`), ALLOWED_HOSTS,
 * loopback names and IP addresses. Loopback names and IP addresses are safe, because a page cannot redirect them to
 * another machine. A page whose own name resolves to this machine (DNS rebinding) sends that name and is refused.
 * @param host the Host header, or the authority of a request target in absolute form, which replaces it
 */
export function isServedHost(host: string | null | undefined, settings: Env = env()): boolean {
  const name = hostHeader.exec(host ?? "")?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (isLoopbackHost(name) || name.endsWith(".localhost") || bareAddress.test(name)) return true;
  if (settings.ALLOWED_HOSTS.includes(name)) return true;
  return serviceOrigins(settings).some((origin) => new URL(origin).hostname === name);
}

/** The 421 (RFC 9110 section 15.5.20) for a host that is not served. */
function misdirectedRequest(host: string | null | undefined): ServiceError {
  const description = hostHeader.test(host ?? "")
    ? `This service does not answer as ${host}. Its operator can add the name to ALLOWED_HOSTS.`
    : "The request names no host that can be read. Send the name of this service in the Host header; ALLOWED_HOSTS lists its names.";
  return new ServiceError("misdirected_request", description);
}

/**
 * The host and the path of a request. The request target may be in absolute form (`GET http://outlay.example/api/health`);
 * its authority then replaces the Host header (RFC 9112 section 3.2.2).
 * @param target the target in the request line
 */
export function readRequestTarget(
  target: string,
  host: string | undefined,
): { host: string | undefined; path: string } {
  if (target.startsWith("/")) return { host, path: target };
  const absolute = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(target);
  if (!absolute) return { host, path: target };
  const [, scheme = "", authority, rest = ""] = absolute;
  return {
    host: /^https?$/i.test(scheme) ? authority : undefined,
    path: rest.startsWith("/") ? rest : `/${rest}`,
  };
}

/** Refuses a request for a host that is not served: with text for browsers, with an error body for programs. */
export function refuseHost(host: string | null | undefined, accept: string | null | undefined): Response {
  const refusal = misdirectedRequest(host);
  if (!accept?.includes("text/html")) return errorResponse(refusal, newRequestId());
  return new Response(`${refusal.message}\n`, {
    status: refusal.status,
    headers: {
      ...securityHeaders(),
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "no-store",
    },
  });
}
