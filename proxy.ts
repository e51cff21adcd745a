import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type NextRequest, NextResponse } from "next/server";
import { env } from "@/lib/env";
import { plainPath } from "@/lib/http/plain-path";
import { PrerenderedPages } from "@/lib/http/prerendered-scripts";
import { framePolicy, pagePolicy, securityHeaders } from "@/lib/http/security-headers";
import { isServedHost, refuseHost } from "@/lib/http/served-host";
import { servedPath } from "@/lib/mcp/addresses";
import { callerAddress } from "@/lib/peer";
import { accessTokenOf, hasSessionCookie } from "./lib/access/sign-in/request-session";
import { createSessionClient } from "./lib/access/sign-in/session-client";

/** How long a page waits for its session to be refreshed here; it asks once more, for a shorter time, by itself. */
const refreshLimitMs = 2_500;

const policyHeader = "Content-Security-Policy";

/** Not the API and the sign-in's own protocol, which see to sessions themselves, nor files. */
const keepsSession =
  /^\/(?!api\/|auth\/|oauth\/(?!authorize$)|\.well-known\/|_next\/|callback$|.*\.[a-z0-9]+$)/;

/** What Next answers with a page, if only to say that there is none. */
const isPage = /^\/(?!api\/|auth\/v1\/|_next\/)/;

const prerendered = new PrerenderedPages(join(process.cwd(), ".next"));

/**
 * What stands before everything that Next answers: refuses hosts that are not served, gives pages their
 * Content-Security-Policy, and keeps the session of whoever looks at pages fresh, because a page that is being rendered
 * can set no cookies any more. It does not decide who may see what: each page, action and route asks who is calling.
 *
 * Where Next stands alone, it also leads the agent tools' own host to their route, as our server does before Next.
 */
export async function proxy(request: NextRequest): Promise<Response> {
  const host = request.headers.get("host");
  const { pathname } = request.nextUrl;
  if (!isServedHost(host)) return refuseHost(host, request.headers.get("accept"));
  const { pathname: written, search } = new URL(request.url);
  const plain = plainPath(written + search);
  if (plain !== undefined) return redirect(new URL(plain, request.url));
  const served = servedPath(host ?? undefined, pathname);
  if (served !== pathname) return NextResponse.rewrite(new URL(served, request.url));
  const policy = isPage.test(pathname) ? policyOf(pathname) : undefined;
  // Next gives the nonce of the policy on the request to every script that it writes; a caller's own policy is replaced.
  if (policy) request.headers.set(policyHeader, policy);
  const response = keepsSession.test(pathname)
    ? await refreshSession(request)
    : NextResponse.next({ request });
  for (const [name, value] of Object.entries(securityHeaders())) response.headers.set(name, value);
  if (policy) response.headers.set(policyHeader, policy);
  return response;
}

function redirect(url: URL): Response {
  return NextResponse.redirect(url, { status: 308, headers: securityHeaders() });
}

function policyOf(pathname: string): string {
  const dev = env().NODE_ENV !== "production";
  const hashes = dev ? undefined : prerendered.hashesOf(pathname);
  if (hashes) return pagePolicy(pathname, { hashes });
  // A page that was prerendered has no nonce. Where nobody can say whether it was, it is not broken.
  if (!dev && /^\/docs(\/|$)/.test(pathname) && !prerendered.isReadable()) return framePolicy;
  const nonce = randomBytes(16).toString("base64");
  return pagePolicy(pathname, { nonce, hashes: dev ? [] : prerendered.fallbackHashes() }, dev);
}

/** Lets a request on with a session that is about to expire refreshed. */
async function refreshSession(request: NextRequest): Promise<NextResponse> {
  let response = NextResponse.next({ request });
  if (!hasSessionCookie(request)) return response;
  const client = await createSessionClient(
    {
      getAll: () => request.cookies.getAll(),
      setAll: (cookies, headers) => {
        // On the request too: the page behind this must see the new session, not the one that is used up.
        for (const { name, value } of cookies) request.cookies.set(name, value);
        response = NextResponse.next({ request });
        for (const { name, value, options } of cookies) response.cookies.set(name, value, options);
        for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      },
    },
    callerAddress(request, undefined),
  );
  // An identity provider that is away leaves it as it was.
  await accessTokenOf(client, refreshLimitMs).catch(() => {});
  return response;
}
