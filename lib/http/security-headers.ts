import { type Env, env } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { commonHeaders } from "./common-headers";

/** One year, the minimum for preload lists. Without includeSubDomains, because other names of the domain may not be ours. */
const strictTransport = "max-age=31536000";

/** The headers of every response; with HSTS under https. */
export function securityHeaders(settings: Env = env()): Record<string, string> {
  if (!serviceAddress(settings).startsWith("https:")) return commonHeaders;
  return { ...commonHeaders, "Strict-Transport-Security": strictTransport };
}

/** The policy of a page whose scripts are unknown. */
export const framePolicy = "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** The scripts that may run on a page: those of one rendering (`nonce`) or of a prerendered page (`hashes`). */
export type AllowedScripts = { nonce?: string; hashes?: readonly string[] };

/**
 * The Content-Security-Policy of a page. Scripts are files of this service, or inline with a nonce or hash. Inline styles
 * are allowed, because React writes `style` attributes, which a nonce cannot allow.
 * @param pathname the page's path: on the consent page, forms may redirect to other origins
 */
export function pagePolicy(pathname: string, { nonce, hashes = [] }: AllowedScripts, dev = false): string {
  const scripts = [
    "'self'",
    ...(nonce ? [`'nonce-${nonce}'`] : []),
    ...hashes.map((hash) => `'${hash}'`),
    // In development React uses eval to show the server's stack traces.
    ...(dev ? ["'unsafe-eval'"] : []),
  ];
  return [
    "default-src 'self'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    // The answer to the consent form redirects to another program, and browsers apply form-action to redirects.
    ...(pathname.startsWith("/oauth/") ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
  ].join("; ");
}
