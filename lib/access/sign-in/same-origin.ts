import { ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";

/**
 * Refuses a write that another site made a browser send with its cookies. Browsers say where a request comes from in
 * headers that no page can set; a request that says nothing is not taken on a cookie alone.
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
  // Behind a proxy the Host may be another than the browser's; the service's own address is then the measure.
  return host === request.headers.get("host") || host === new URL(serviceAddress()).host;
}
