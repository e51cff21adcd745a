import { bearerToken } from "@/lib/credentials";
import { ServiceError } from "@/lib/errors";
import { type UserClaims, verifyUserJwt } from "../verify-user-jwt";
import { bodies, checkNewPassword, readBody } from "./bodies";
import { AuthProtocolError, jsonAnswer } from "./protocol";
import { type AuthUser, closeSessions, readSessionUser, updateUser } from "./queries";

/** GET user: who is signed in, looked up, so that an ended session is noticed at once. */
export async function readUser(request: Request): Promise<Response> {
  const { user } = await requireSession(request);
  return jsonAnswer(user);
}

/** PUT user: changes password, e-mail address (at once: sign-up is not confirmed either) or the user's own data. */
export async function changeUser(request: Request): Promise<Response> {
  const { user, sessionId } = await requireSession(request);
  const changes = await readBody(request, bodies.updateUser);
  if (changes.password !== undefined) checkNewPassword(changes.password);
  const outcome = await updateUser(user.id, sessionId, {
    ...(changes.email !== undefined && { email: changes.email }),
    ...(changes.password !== undefined && { password: changes.password }),
    ...(changes.data !== undefined && { data: changes.data }),
  });
  if (!("refused" in outcome)) return jsonAnswer(outcome.user);
  const messages = {
    same_password: "New password should be different from the old password.",
    email_exists: "A user with this email address has already been registered",
  };
  throw new AuthProtocolError(422, outcome.refused, messages[outcome.refused]);
}

/** POST logout?scope=: ends this session (`local`), all the user's (`global`, the default) or all but this (`others`). */
export async function signOut(request: Request): Promise<Response> {
  const scope = new URL(request.url).searchParams.get("scope") ?? "global";
  if (!["global", "local", "others"].includes(scope)) {
    throw new AuthProtocolError(400, "validation_failed", "Unsupported logout scope");
  }
  const { user, sessionId } = await requireSession(request);
  await closeSessions(user.id, sessionId, scope);
  return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
}

/** Who asks, looked up, so that an ended session is noticed at once. @throws AuthProtocolError */
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
    throw new AuthProtocolError(403, "bad_jwt", `invalid JWT: ${error.message}`);
  });
  const user = await readSessionUser(claims.session_id, claims.sub);
  if (!user) {
    const message = "Session from session_id claim in JWT does not exist";
    throw new AuthProtocolError(403, "session_not_found", message);
  }
  return { user, sessionId: claims.session_id, claims };
}
