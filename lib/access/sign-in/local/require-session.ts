import { bearerToken } from "@/lib/access/credentials";
import { type UserClaims, verifyUserJwt } from "@/lib/access/sign-in/verify-user-jwt";
import { ServiceError } from "@/lib/errors";
import { AuthProtocolError } from "./protocol";
import { type AuthUser, readSessionUser } from "./sign-in-queries";

/**
 * The user of a request's access token, read from the database, so that an ended session is refused at once.
 * @throws AuthProtocolError no_authorization, bad_jwt, session_not_found
 */
export async function requireSession(
  request: Request,
): Promise<{ user: AuthUser; sessionId: string; claims: UserClaims }> {
  const token = bearerToken(request.headers.get("authorization"));
  if (!token) {
    const message = "This endpoint requires a valid Bearer token";
    throw new AuthProtocolError(401, "no_authorization", message);
  }
  const claims = await verifyUserJwt(token).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    const message = `invalid JWT: unable to parse or verify signature, ${error.message}`;
    throw new AuthProtocolError(403, "bad_jwt", message);
  });
  const user = await readSessionUser(claims.session_id, claims.sub);
  if (!user) {
    const message = "Session from session_id claim in JWT does not exist";
    throw new AuthProtocolError(403, "session_not_found", message);
  }
  return { user, sessionId: claims.session_id, claims };
}
