import { bearerToken } from "@/lib/access/credentials";
import { ServiceError } from "@/lib/errors";
import { serviceAddress } from "@/lib/service-address";
import { passSpan } from "@/lib/tracing";
import { accessTokenOf, hasSessionCookie, sessionOf } from "./request-session";
import { lacksSecondFactor } from "./second-factor";
import { refuseUser, type UserClaims, verifyUserJwt } from "./verify-user-jwt";

/** A signed-in user with a verified token: the claims for row-level security. */
export type UserPrincipal = { kind: "user"; claims: UserClaims };

/**
 * Identifies a request's user by the access token in its Authorization header, otherwise by its session cookie. Refuses
 * a session that lacks its user's second factor.
 * @param address the caller's, where known
 * @param setCookies receives the cookies that the response must set if the session was refreshed
 * @throws ServiceError missing_credentials, invalid_credentials, origin_not_allowed, mfa_required or unavailable
 */
export async function authenticateUser(
  request: Request,
  address: string | undefined,
  setCookies: string[],
): Promise<UserPrincipal> {
  const authorization = request.headers.get("authorization");
  if (authorization !== null)
    return admitUser(request, await verifyUserJwt(bearerOf(authorization), address));
  if (!hasSessionCookie(request)) {
    const wanted = "Sign in, or send a user's access token: `Authorization: Bearer <token>`.";
    throw refuseUser("missing_credentials", wanted);
  }
  requireSameOrigin(request);
  const session = await sessionOf(request, address);
  const token = await accessTokenOf(session.client);
  setCookies.push(...session.setCookies);
  if (!token) throw refuseUser("invalid_credentials", "This session is over. Sign in again.");
  return admitUser(request, await verifyUserJwt(token, address));
}

async function admitUser(request: Request, claims: UserClaims): Promise<UserPrincipal> {
  passSpan(request, claims);
  if (!(await lacksSecondFactor(claims))) return { kind: "user", claims };
  const remedy =
    "This account has two-factor authentication. Give the code of its authenticator app (`auth.mfa.challengeAndVerify` of supabase-js, or the sign-in page) and call again with the new access token.";
  throw new ServiceError("mfa_required", remedy);
}

function bearerOf(authorization: string): string {
  const token = bearerToken(authorization);
  if (!token)
    throw refuseUser("missing_credentials", "Send a user's access token: `Authorization: Bearer <token>`.");
  if (token.startsWith("svc_")) {
    const wanted =
      "This route is for signed-in users and takes a user's access token. API keys record costs and read summaries.";
    throw refuseUser("invalid_credentials", wanted);
  }
  return token;
}

/**
 * Refuses a cross-site write with cookies. Browsers name the origin in headers that pages cannot set. A request without
 * these headers is refused.
 * @throws ServiceError origin_not_allowed
 */
function requireSameOrigin(request: Request): void {
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
