import { randomInt } from "node:crypto";
import { isLoopbackHost, serviceAddress } from "@/lib/address";
import { bodies, readBody } from "./bodies";
import { limitAttempts } from "./limits";
import { sendLink } from "./outbox";
import { AuthProtocolError, jsonAnswer } from "./protocol";
import { countAttempt, issueEmailToken, type Purpose, redeemCode, redeemLink } from "./queries";
import { hashToken, makeToken, type Origin, startSession } from "./session";

/** Mails to one address: enough for who loses one, too few to guess their six digits or to bury the outbox. */
const mails = { allowed: 5, windowSeconds: 10 * 60 };

/** POST recover: a link with which to choose a new password. The answer is the same for every address. */
export async function recover(request: Request, origin: Origin): Promise<Response> {
  const body = await readBody(request, bodies.recover);
  await limitAttempts("mails asked for", origin);
  await mailLink(request, { purpose: "recovery", mayCreate: false, data: {}, ...body });
  return jsonAnswer({});
}

/** POST otp: a link, and six digits, to sign in with. Makes the account first unless told not to. */
export async function sendOtp(request: Request, origin: Origin): Promise<Response> {
  const { create_user, ...body } = await readBody(request, bodies.otp);
  await limitAttempts("mails asked for", origin);
  await mailLink(request, { purpose: "magiclink", mayCreate: create_user, ...body });
  return jsonAnswer({});
}

/** POST resend: sign-up and change of address confirm themselves here, so there is never a mail to send again. */
export async function resend(request: Request): Promise<Response> {
  const { type } = await readBody(request, bodies.resend);
  if (!["signup", "email_change"].includes(type)) {
    const message = "Missing one of these types: signup, email_change";
    throw new AuthProtocolError(400, "validation_failed", message);
  }
  return jsonAnswer({});
}

/** POST verify: a session for the six digits of a mail, or for the token of its link. */
export async function verify(request: Request, origin: Origin): Promise<Response> {
  const { type, token_hash, token, email } = await readBody(request, bodies.verify);
  await limitAttempts("codes tried", origin);
  let redeemed: { user_id: string; purpose: Purpose } | null = null;
  if (token_hash !== undefined) redeemed = await redeemLink(hashToken(token_hash), null);
  else if (email !== undefined && token !== undefined)
    redeemed = await redeemCode(email, hashCode(email, token), purposesOf(type));
  if (!redeemed) throw new AuthProtocolError(403, "otp_expired", "Token has expired or is invalid");
  return jsonAnswer(await startSession(redeemed.user_id, redeemed.purpose, origin));
}

/** GET verify: a link was opened. Sends the browser on to `redirect_to`, with a code (PKCE) or the session itself. */
export async function followLink(request: Request, origin: Origin): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const target = allowedRedirect(query.get("redirect_to"));
  const code = makeToken();
  const redeemed = await redeemLink(hashToken(query.get("token") ?? ""), hashToken(code));
  if (!redeemed) {
    const reason = new URLSearchParams({
      error: "access_denied",
      error_code: "otp_expired",
      error_description: "Email link is invalid or has expired",
    });
    for (const [name, value] of reason) target.searchParams.set(name, value);
    target.hash = reason.toString();
  } else if (redeemed.code_issued) {
    target.searchParams.set("code", code);
  } else {
    const { user: _, ...session } = await startSession(redeemed.user_id, redeemed.purpose, origin);
    const fields = Object.entries(session).map(([name, value]) => [name, String(value)]);
    target.hash = new URLSearchParams([...fields, ["type", redeemed.purpose]]).toString();
  }
  return new Response(null, {
    status: 303,
    headers: { Location: target.href, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

type LinkRequest = {
  email: string;
  purpose: Purpose;
  mayCreate: boolean;
  data: Record<string, unknown>;
  code_challenge?: string | null | undefined;
  code_challenge_method?: "s256" | "plain" | null | undefined;
};

async function mailLink(request: Request, asked: LinkRequest): Promise<void> {
  const { email, purpose, mayCreate, data, code_challenge: challenge } = asked;
  const waitSeconds = await countAttempt(`mail:${email}`, mails.allowed, mails.windowSeconds);
  if (waitSeconds > 0) {
    throw new AuthProtocolError(
      429,
      "over_email_send_rate_limit",
      `For security purposes, you can only request this after ${waitSeconds} seconds.`,
      {},
      { "Retry-After": String(waitSeconds) },
    );
  }
  const token = makeToken();
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const known = await issueEmailToken({
    email,
    purpose,
    linkHash: hashToken(token),
    codeHash: hashCode(email, code),
    challenge: challenge ?? null,
    challengeMethod: challenge ? (asked.code_challenge_method ?? "plain") : null,
    mayCreate,
    data,
  });
  const redirect = allowedRedirect(new URL(request.url).searchParams.get("redirect_to"));
  const query = new URLSearchParams({ token, type: purpose, redirect_to: redirect.href });
  await sendLink({ email, purpose, known, code, link: `${serviceAddress()}/auth/v1/verify?${query}` });
}

/** Six digits are the same for many; with the address, a hash is of one mail. */
function hashCode(email: string, code: string): string {
  return hashToken(`${email}\n${code}`);
}

function purposesOf(type: string): Purpose[] {
  if (type === "recovery") return ["recovery"];
  return ["email", "magiclink", "signup"].includes(type) ? ["magiclink"] : [];
}

/** Where a link may lead: this service, or another program on this machine (one that is being developed). */
function allowedRedirect(wanted: string | null): URL {
  const own = new URL(serviceAddress());
  if (wanted === null || !URL.canParse(wanted)) return own;
  const url = new URL(wanted);
  const web = url.protocol === "http:" || url.protocol === "https:";
  return web && (url.origin === own.origin || isLoopbackHost(url.hostname)) ? url : own;
}
