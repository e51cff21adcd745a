import { hashSecret } from "@/lib/access/secrets/secret";
import { bodies, checkNewPassword, readBody } from "./bodies";
import { countGuess, limitAttempts } from "./limits";
import { inPasswordQueue, requirePlaceInQueue } from "./password-queue";
import { AuthProtocolError, invalidRequest, jsonAnswer } from "./protocol";
import { encodeSession, type Origin, startSession } from "./session";
import { checkPassword, createUser, redeemAuthCode, refreshSession } from "./sign-in-queries";

/** POST signup: creates an account, which needs no confirmation, and signs it in. */
export async function signUp(request: Request, origin: Origin): Promise<Response> {
  const { email, phone, password, data } = await readBody(request, bodies.signup);
  if (!email && !phone)
    throw new AuthProtocolError(422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled");
  if (!password) throw invalidRequest("Signup requires a valid password");
  if (email && phone)
    throw invalidRequest("Only an email address or phone number should be provided on signup.");
  if (!email) throw new AuthProtocolError(400, "phone_provider_disabled", "Phone signups are disabled");
  checkNewPassword(password);
  requirePlaceInQueue();
  await limitAttempts("sign-ups", origin, email);
  const user = await inPasswordQueue((client) => createUser(email, password, data, client));
  if (!user) throw new AuthProtocolError(422, "user_already_exists", "User already registered");
  return jsonAnswer(await startSession(user.id, "password", origin));
}

const grantsTurnedOff: Record<string, [status: number, code: string, message: string]> = {
  id_token: [400, "provider_disabled", "Provider is not enabled"],
  web3: [422, "web3_provider_disabled", "Web3 provider is disabled"],
};

/** POST token: starts a session with a password or a PKCE code, or refreshes one. */
export async function grantToken(request: Request, origin: Origin): Promise<Response> {
  const grant = new URL(request.url).searchParams.get("grant_type");
  if (grant === "password") return signInWithPassword(request, origin);
  if (grant === "refresh_token") return refresh(request, origin);
  if (grant === "pkce") return exchangeCode(request, origin);
  const off = new Map(Object.entries(grantsTurnedOff)).get(grant ?? "");
  throw new AuthProtocolError(...(off ?? [400, "invalid_credentials", "unsupported_grant_type"]));
}

async function signInWithPassword(request: Request, origin: Origin): Promise<Response> {
  const { email, phone, password } = await readBody(request, bodies.password);
  if (email && phone)
    throw invalidRequest("Only an email address or phone number should be provided on login.");
  if (phone) throw new AuthProtocolError(422, "phone_provider_disabled", "Phone logins are disabled");
  if (!email) throw invalidRequest("missing email or phone");
  requirePlaceInQueue();
  await limitAttempts("sign-ins", origin, email);
  const forget = await countGuess("wrong passwords", email);
  const userId = await checkPassword(email, password);
  if (!userId) throw new AuthProtocolError(400, "invalid_credentials", "Invalid login credentials");
  await forget();
  return jsonAnswer(await startSession(userId, "password", origin));
}

async function refresh(request: Request, origin: Origin): Promise<Response> {
  const { refresh_token } = await readBody(request, bodies.refresh);
  if (!refresh_token) throw invalidRequest("refresh_token required");
  await limitAttempts("sessions renewed", origin);
  const session = await refreshSession(refresh_token);
  if ("refused" in session) {
    const used = session.refused === "refresh_token_already_used";
    const reason = used ? "Already Used" : "Refresh Token Not Found";
    throw new AuthProtocolError(400, session.refused, `Invalid Refresh Token: ${reason}`);
  }
  return jsonAnswer(await encodeSession(session));
}

async function exchangeCode(request: Request, origin: Origin): Promise<Response> {
  const { auth_code, code_verifier } = await readBody(request, bodies.pkce);
  if (!auth_code || !code_verifier)
    throw invalidRequest("invalid request: both auth code and code verifier should be non-empty");
  await limitAttempts("codes tried", origin);
  const flow = await redeemAuthCode(hashSecret(auth_code), code_verifier);
  if (!("refused" in flow)) return jsonAnswer(await startSession(flow.user_id, flow.method, origin));
  if (flow.refused === "bad_code_verifier") {
    const message = "code challenge does not match previously saved code verifier";
    throw new AuthProtocolError(400, "bad_code_verifier", message);
  }
  const message = "invalid flow state, no valid flow state found";
  throw new AuthProtocolError(404, "flow_state_not_found", message);
}
