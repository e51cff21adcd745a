import { ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";

/**
 * Refuses a cross-site write with cookies. Browsers name the origin in headers that pages cannot set. A request without
 * these headers is refused.
 * @throws ServiceError origin_not_allowed
 */
export function requireSameOrigin(request: Request): void {
  if (["GET", "HEAD", "OPTIONS"].includes(request.method)) return;
  const site = request.headers.get("sec-fetch-site");
  if (site === null ? isOwnOrigin(request) : site === "same-origin") return;
  throw new ServiceError(
    "origin_not_allowed",
    "A session cookie only counts for requests from this service's own pages. Send an access token instead.",
  );
}

function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get("origin");
  if (origin === null || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  // Behind a proxy the Host may differ from the browser's, so the service's own address counts too.
  return host === request.headers.get("host") || host === new URL(serviceAddress()).host;
}
