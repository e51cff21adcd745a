import { type Env, env } from "@/lib/env";
import { serviceAddress } from "@/lib/service-address";
import { commonHeaders } from "./common-headers";

/** A year, the least that preload lists ask for. Other names of the domain are not ours to speak for. */
const strictTransport = "max-age=31536000";

/** The headers of every answer; under https, with HSTS. */
export function securityHeaders(settings: Env = env()): Record<string, string> {
  if (!serviceAddress(settings).startsWith("https:")) return commonHeaders;
  return { ...commonHeaders, "Strict-Transport-Security": strictTransport };
}

/** The policy of a page whose scripts are not known. */
export const framePolicy = "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** What may run on a page: the scripts of one rendering (`nonce`), or those of a page that was prerendered (`hashes`). */
export type AllowedScripts = { nonce?: string; hashes?: readonly string[] };

/**
 * The Content-Security-Policy of a page. Scripts are files of this service, or inline and allowed one by one; none is
 * allowed for being inline. Styles may be inline: React writes `style` attributes, which no nonce can allow.
 * @param pathname decides where forms may lead
 */
export function pagePolicy(pathname: string, { nonce, hashes = [] }: AllowedScripts, dev = false): string {
  const scripts = [
    "'self'",
    ...(nonce ? [`'nonce-${nonce}'`] : []),
    ...hashes.map((hash) => `'${hash}'`),
    // React rebuilds the server's stack traces with it in development, and only there.
    ...(dev ? ["'unsafe-eval'"] : []),
  ];
  return [
    "default-src 'self'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    // Consent is answered with a redirect to the program that asked, wherever it is; browsers hold that to form-action.
    ...(pathname.startsWith("/oauth/") ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
  ].join("; ");
}
