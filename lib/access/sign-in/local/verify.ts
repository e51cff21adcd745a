import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { bodies, readBody } from "./bodies";
import { limitAttempts } from "./limits";
import { AuthProtocolError, invalidRequest, jsonAnswer } from "./protocol";
import { allowedRedirect } from "./redirect-target";
import { type Origin, startSession } from "./session";
import { type Purpose, type RedeemedMail, redeemCode, redeemLink } from "./sign-in-queries";

const signInPurposes: Purpose[] = ["recovery", "magiclink"];

/**
 * The purposes that each type of verification accepts. As in Supabase Auth, a sign-in code is accepted under any of its
 * three names. Sign-ups need no confirmation, and there are no invitations or phone messages.
 */
const purposesOf: Record<string, Purpose[]> = {
  email: signInPurposes,
  magiclink: signInPurposes,
  recovery: signInPurposes,
  email_change: ["email_change_current", "email_change_new"],
  signup: [],
  invite: [],
  sms: [],
  phone_change: [],
};

const firstOfTwo = "Confirmation link accepted. Please proceed to confirm link sent to the other email";

/** POST verify: starts a session for the six digits of a mail, or for the token of its link. */
export async function verify(request: Request, origin: Origin): Promise<Response> {
  const { type, token_hash: tokenHash, token, email, phone } = await readBody(request, bodies.verify);
  if (!type) throw invalidRequest("Verify requires a verification type");
  if (!token === !tokenHash) throw invalidRequest("Verify requires either a token or a token hash");
  if (tokenHash && (email || phone)) throw invalidRequest("Only the token_hash and type should be provided");
  if (token && !email === !phone)
    throw invalidRequest("Only an email address or phone number should be provided on verify");
  const purposes = new Map(Object.entries(purposesOf)).get(type);
  if (!purposes) throw invalidRequest("Invalid email verification type");
  await limitAttempts("codes tried", origin);
  let redeemed: RedeemedMail | null = null;
  if (tokenHash) redeemed = await redeemLink(hashSecret(tokenHash), purposes, null);
  else if (email) redeemed = await redeemCode(email, token, purposes);
  if (!redeemed) {
    const what = tokenHash ? "Email link is invalid or has expired" : "Token has expired or is invalid";
    throw new AuthProtocolError(403, "otp_expired", what);
  }
  if (redeemed.refused) throw emailTaken();
  if (redeemed.pending) return jsonAnswer({ msg: firstOfTwo, code: "200" });
  return jsonAnswer(await startSession(redeemed.user_id, "otp", origin));
}

/** GET verify: answers an opened link. Redirects to `redirect_to` with a code (PKCE) or the session. */
export async function followLink(request: Request, origin: Origin): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const [type, token] = [query.get("type"), query.get("token")];
  if (!type) throw invalidRequest("Verify requires a verification type");
  if (!token) throw invalidRequest("Verify requires a token or a token hash");
  const target = allowedRedirect(query.get("redirect_to"));
  await limitAttempts("links opened", origin);
  const code = generateToken();
  const purposes = new Map(Object.entries(purposesOf)).get(type) ?? [];
  const redeemed = await redeemLink(hashSecret(token), purposes, hashSecret(code));
  if (!redeemed) {
    refuseAt(target, 403, "otp_expired", "Email link is invalid or has expired");
  } else if (redeemed.refused) {
    const { status, code: reason, message } = emailTaken();
    refuseAt(target, status, reason, message);
  } else if (redeemed.pending) {
    if (redeemed.pkce) target.searchParams.set("message", firstOfTwo);
    target.hash = new URLSearchParams({ message: firstOfTwo }).toString();
  } else if (redeemed.code_issued) {
    target.searchParams.set("code", code);
  } else {
    const { user: _, ...session } = await startSession(redeemed.user_id, "otp", origin);
    const fields = Object.entries(session).map(([name, value]) => [name, String(value)]);
    target.hash = new URLSearchParams([...fields, ["type", type]]).toString();
  }
  return new Response(null, {
    status: 303,
    headers: { Location: target.href, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

/** Adds an error to the redirect: to the query for servers, to the fragment for scripts. */
function refuseAt(target: URL, status: number, code: string, description: string): void {
  const reason = new URLSearchParams({
    ...(status === 403 && { error: "access_denied" }),
    error_code: code,
    error_description: description,
  });
  for (const [name, value] of reason) target.searchParams.set(name, value);
  target.hash = reason.toString();
}

function emailTaken(): AuthProtocolError {
  const message = "A user with this email address has already been registered";
  return new AuthProtocolError(422, "email_exists", message);
}
