import { createHash } from "node:crypto";
import { isSameSecret } from "@/lib/credentials";
import { bodies, checkNewPassword, readBody } from "./bodies";
import { limitAttempts } from "./limits";
import { AuthProtocolError, jsonAnswer } from "./protocol";
import {
  checkPassword,
  countAttempt,
  createUser,
  forgetAttempts,
  redeemAuthCode,
  refreshSession,
} from "./queries";
import { describeSession, hashToken, type Origin, startSession } from "./session";

/** Ten wrong passwords for one address in a quarter of an hour, then it has to wait. */
const wrongPasswords = { allowed: 10, windowSeconds: 15 * 60 };

/** POST signup: makes an account that is confirmed at once, and signs it in. */
export async function signUp(request: Request, origin: Origin): Promise<Response> {
  const { email, password, data } = await readBody(request, bodies.signup);
  if (email === undefined)
    throw new AuthProtocolError(422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled");
  if (!password) throw new AuthProtocolError(400, "validation_failed", "Signup requires a valid password");
  checkNewPassword(password);
  await limitAttempts("sign-ups", origin, email);
  const user = await createUser(email, password, data);
  if (!user) throw new AuthProtocolError(422, "user_already_exists", "User already registered");
  return jsonAnswer(await startSession(user.id, "password", origin));
}

/** POST token: the three ways to come by a session. */
export async function grantToken(request: Request, origin: Origin): Promise<Response> {
  const grant = new URL(request.url).searchParams.get("grant_type");
  if (grant === "password") return signInWithPassword(request, origin);
  if (grant === "refresh_token") return refresh(request, origin);
  if (grant === "pkce") return exchangeCode(request, origin);
  throw new AuthProtocolError(400, "invalid_grant", "unsupported_grant_type");
}

async function signInWithPassword(request: Request, origin: Origin): Promise<Response> {
  const { email, password } = await readBody(request, bodies.password);
  await limitAttempts("sign-ins", origin, email);
  const subject = `sign-in:${email}`;
  const { allowed, windowSeconds } = wrongPasswords;
  // Counted before the password is looked at, and for every address alike: guesses that run at once cannot slip
  // through, and a lock tells nothing of whether there is an account.
  const waitSeconds = await countAttempt(subject, allowed, windowSeconds);
  if (waitSeconds > 0) {
    throw new AuthProtocolError(
      429,
      "over_request_rate_limit",
      `Too many wrong passwords. Try again in ${waitSeconds} seconds, or reset the password.`,
      {},
      { "Retry-After": String(waitSeconds) },
    );
  }
  const userId = await checkPassword(email, password);
  if (!userId) throw new AuthProtocolError(400, "invalid_credentials", "Invalid login credentials");
  await forgetAttempts(subject);
  return jsonAnswer(await startSession(userId, "password", origin));
}

async function refresh(request: Request, origin: Origin): Promise<Response> {
  const { refresh_token } = await readBody(request, bodies.refresh);
  await limitAttempts("sessions renewed", origin);
  const session = await refreshSession(refresh_token);
  if ("refused" in session) {
    const used = session.refused === "refresh_token_already_used";
    const reason = used ? "Already Used" : "Refresh Token Not Found";
    throw new AuthProtocolError(400, session.refused, `Invalid Refresh Token: ${reason}`);
  }
  return jsonAnswer(await describeSession(session));
}

async function exchangeCode(request: Request, origin: Origin): Promise<Response> {
  const { auth_code, code_verifier } = await readBody(request, bodies.pkce);
  await limitAttempts("codes tried", origin);
  const flow = await redeemAuthCode(hashToken(auth_code));
  if (!flow) {
    const message = "invalid flow state, no valid flow state found";
    throw new AuthProtocolError(404, "flow_state_not_found", message);
  }
  const given =
    flow.method === "s256" ? createHash("sha256").update(code_verifier).digest("base64url") : code_verifier;
  if (!isSameSecret(given, flow.challenge)) {
    const message = "code challenge does not match previously saved code verifier";
    throw new AuthProtocolError(400, "bad_code_verifier", message);
  }
  return jsonAnswer(await startSession(flow.user_id, flow.purpose, origin));
}
