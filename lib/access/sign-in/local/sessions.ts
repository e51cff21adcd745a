import { z } from "zod";
import { hashSecret } from "@/lib/access/secrets/secret";
import { encodeSession } from "./access-token";
import { checkPassword, closeSessions, openSession, redeemAuthCode, refreshSession } from "./account-queries";
import { countGuess, limitAttempts } from "./limits";
import { AuthProtocolError, invalidRequest, jsonAnswer, notSupported } from "./protocol";
import { requirePlaceInQueue } from "./queues";
import { type Origin, readBody, requireSession, short, typedEmail } from "./request";

const bodies = {
  password: z.object({ email: typedEmail, password: z.string() }),
  refresh: z.object({ refresh_token: short }),
  pkce: z.object({ auth_code: short, code_verifier: short }),
};

/** POST token: starts a session with a password or a PKCE code, or refreshes one. */
export async function grantToken(request: Request, origin: Origin): Promise<Response> {
  const grant = new URL(request.url).searchParams.get("grant_type");
  if (grant === "password") return signInWithPassword(request, origin);
  if (grant === "refresh_token") return refresh(request, origin);
  if (grant === "pkce") return exchangeCode(request, origin);
  throw notSupported("this grant_type");
}

/** Answers with a new session. @param method how the user proved their identity: `otp` is a link or code from a mail */
export async function answerSession(
  userId: string,
  method: "password" | "otp",
  origin: Origin,
): Promise<Response> {
  return jsonAnswer(await encodeSession(await openSession(userId, method, origin)));
}

async function signInWithPassword(request: Request, origin: Origin): Promise<Response> {
  const { email, password } = await readBody(request, bodies.password);
  requirePlaceInQueue();
  await limitAttempts("sign-ins", origin, email);
  const forget = await countGuess("wrong passwords", email);
  const userId = await checkPassword(email, password);
  if (!userId) throw new AuthProtocolError(400, "invalid_credentials", "Invalid login credentials");
  await forget();
  return answerSession(userId, "password", origin);
}

async function refresh(request: Request, origin: Origin): Promise<Response> {
  const { refresh_token } = await readBody(request, bodies.refresh);
  await limitAttempts("sessions renewed", origin);
  const session = await refreshSession(refresh_token);
  if ("refused" in session)
    throw new AuthProtocolError(400, session.refused, "This session is over. Sign in again.");
  return jsonAnswer(await encodeSession(session));
}

async function exchangeCode(request: Request, origin: Origin): Promise<Response> {
  const { auth_code, code_verifier } = await readBody(request, bodies.pkce);
  await limitAttempts("codes tried", origin);
  const redeemed = await redeemAuthCode(hashSecret(auth_code), code_verifier);
  if (typeof redeemed === "string") return answerSession(redeemed, "otp", origin);
  const isOtherClient = redeemed.refused === "bad_code_verifier";
  const message = isOtherClient
    ? "Another client asked for this link."
    : "This code was used before or has expired.";
  throw new AuthProtocolError(isOtherClient ? 400 : 404, redeemed.refused, message);
}

/**
 * POST logout?scope=: ends this session (`local`), all of the user's (`global`, the default), or all others (`others`).
 */
export async function signOut(request: Request): Promise<Response> {
  const scope = new URL(request.url).searchParams.get("scope") ?? "global";
  if (!["global", "local", "others"].includes(scope))
    throw invalidRequest("scope: must be global, local or others.");
  const { user, sessionId } = await requireSession(request);
  await closeSessions(user.id, sessionId, scope);
  return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
}
