import { randomInt } from "node:crypto";
import { z } from "zod";
import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { serviceAddress } from "@/lib/service-address";
import { encodeSession } from "./access-token";
import {
  type ChangeMails,
  issueReauthentication,
  issueSignInMail,
  type MailPurpose,
  openSession,
  redeemLink,
  redeemSignInCode,
  renewEmailChange,
  type SignInPurpose,
} from "./account-queries";
import { countMail, limitAttempts } from "./limits";
import { sendSignInMail } from "./outbox";
import { AuthProtocolError, invalidRequest, jsonAnswer, notSupported } from "./protocol";
import { allowedRedirect } from "./redirect-target";
import { email, metadata, type Origin, pkce, readBody, requireSession, short } from "./request";
import { answerSession } from "./sessions";

const bodies = {
  recover: z.object({ email, ...pkce }),
  otp: z.object({ email, create_user: z.boolean().default(true), data: metadata.default({}), ...pkce }),
  resend: z.object({ type: z.string(), email, ...pkce }),
  verify: z
    .object({
      type: z.string(),
      token_hash: short.optional(),
      token: short.optional(),
      email: email.optional(),
    })
    .refine(
      ({ token_hash, token, email }) => (token_hash ? !token && !email : token && email),
      "send either token_hash, or token and email",
    ),
};

/** POST recover: mails a link to choose a new password. The response is the same for every address. */
export async function recover(request: Request, origin: Origin): Promise<Response> {
  const { email, code_challenge } = await readBody(request, bodies.recover);
  await limitAttempts("mails asked for", origin);
  return mailSignIn(request, email, "recovery", code_challenge, null);
}

/** POST otp: mails a link and six digits to sign in with. Creates the account unless `create_user` is false. */
export async function sendOtp(request: Request, origin: Origin): Promise<Response> {
  const { email, create_user, data, code_challenge } = await readBody(request, bodies.otp);
  await limitAttempts("mails asked for", origin);
  return mailSignIn(request, email, "magiclink", code_challenge, create_user ? data : null);
}

async function mailSignIn(
  request: Request,
  email: string,
  purpose: SignInPurpose,
  challenge: string | null = null,
  newAccount: Record<string, unknown> | null,
): Promise<Response> {
  await countMail(email);
  const { token, kept } = makeSecrets();
  const known = await issueSignInMail(email, purpose, kept, challenge, newAccount);
  const link = makeLink(request, token, purpose);
  await sendSignInMail(known ? { email, purpose, link, code: kept.code } : { email, purpose: "unknown" });
  return jsonAnswer({});
}

/** POST resend: sends the mails of a change of address again. Sign-up needs no confirmation, so it has no mail. */
export async function resend(request: Request, origin: Origin): Promise<Response> {
  const { type, email, code_challenge } = await readBody(request, bodies.resend);
  if (type !== "email_change") throw notSupported("this type of mail");
  await limitAttempts("mails asked for", origin);
  await countMail(email);
  const { secrets, send } = makeChangeMails(code_challenge);
  const wanted = await renewEmailChange(email, secrets);
  if (wanted) await send(request, email, wanted);
  return jsonAnswer({});
}

/** GET reauthenticate: mails the signed-in user six digits, with which they confirm a new password. */
export async function reauthenticate(request: Request, origin: Origin): Promise<Response> {
  const { user } = await requireSession(request);
  await limitAttempts("mails asked for", origin);
  await countMail(user.email);
  const { code } = makeSecrets().kept;
  await issueReauthentication(user.id, code);
  await sendSignInMail({ email: user.email, purpose: "reauthentication", code });
  return jsonAnswer({});
}

/**
 * Generates the secrets of the two mails that confirm a new address. `send` sends the mails, once the change is stored.
 */
export function makeChangeMails(challenge: string | null = null): {
  secrets: ChangeMails;
  send(request: Request, current: string, wanted: string): Promise<void>;
} {
  const [forCurrent, forNew] = [makeSecrets(), makeSecrets()];
  return {
    secrets: { current: forCurrent.kept, new: forNew.kept, challenge },
    send: async (request, current, wanted) => {
      const send = async (email: string, purpose: MailPurpose, { token, kept }: typeof forNew) => {
        const link = makeLink(request, token, "email_change");
        await sendSignInMail({ email, purpose, about: wanted, link, code: kept.code });
      };
      await send(current, "email_change_current", forCurrent);
      await send(wanted, "email_change_new", forNew);
    },
  };
}

/** Generates the token of a link, the hash that is stored of it, and six digits. */
function makeSecrets() {
  const token = generateToken();
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  return { token, kept: { link_hash: hashSecret(token), code } };
}

function makeLink(request: Request, token: string, type: string): string {
  const redirect = allowedRedirect(new URL(request.url).searchParams.get("redirect_to"));
  const query = new URLSearchParams({ token, type, redirect_to: redirect.href });
  return `${serviceAddress()}/auth/v1/verify?${query}`;
}

/** The purposes of mails that each type of verification accepts. A sign-in mail is accepted under any of its three names. */
const purposesOf = new Map<string | null, MailPurpose[]>([
  ["email", ["recovery", "magiclink"]],
  ["magiclink", ["recovery", "magiclink"]],
  ["recovery", ["recovery", "magiclink"]],
  ["email_change", ["email_change_current", "email_change_new"]],
]);

const otpExpired = "This link or code is wrong, was used before or has expired.";
const emailTaken = "There is an account for this address.";
const halfConfirmed = "Confirmed. Open the link in the mail to the other address too.";

/** POST verify: starts a session for the six digits of a mail, or for the token of its link. */
export async function verify(request: Request, origin: Origin): Promise<Response> {
  const { type, token_hash, token = "", email = "" } = await readBody(request, bodies.verify);
  const purposes = purposesOf.get(type);
  if (!purposes) throw notSupported("this type of mail");
  await limitAttempts("codes tried", origin);
  const redeemed = token_hash
    ? await redeemLink(hashSecret(token_hash), purposes, null)
    : await redeemSignInCode(email, token, purposes);
  if (!redeemed) throw new AuthProtocolError(403, "otp_expired", otpExpired);
  if (redeemed.refused) throw new AuthProtocolError(422, "email_exists", emailTaken);
  if (redeemed.pending) return jsonAnswer({ msg: halfConfirmed });
  return answerSession(redeemed.user_id, "otp", origin);
}

/**
 * GET verify: answers an opened link. Redirects to `redirect_to` with a code (PKCE) or a session in the fragment, or says
 * in the query why not.
 */
export async function followLink(request: Request, origin: Origin): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const [type, token, target] = [
    query.get("type"),
    query.get("token"),
    allowedRedirect(query.get("redirect_to")),
  ];
  if (!token) throw invalidRequest("token: is missing.");
  await limitAttempts("links opened", origin);
  const code = generateToken();
  const redeemed = await redeemLink(hashSecret(token), purposesOf.get(type) ?? [], hashSecret(code));
  const add = (fields: Record<string, string>) => {
    for (const [name, value] of Object.entries(fields)) target.searchParams.set(name, value);
  };
  if (!redeemed) add({ error: "access_denied", error_code: "otp_expired", error_description: otpExpired });
  else if (redeemed.refused)
    add({ error: "access_denied", error_code: "email_exists", error_description: emailTaken });
  else if (redeemed.pending) add({ message: halfConfirmed });
  else if (redeemed.code_issued) add({ code });
  else {
    const { user: _, ...session } = await encodeSession(await openSession(redeemed.user_id, "otp", origin));
    const fields = Object.entries(session).map(([name, value]) => [name, String(value)]);
    target.hash = new URLSearchParams([...fields, ["type", type ?? ""]]).toString();
  }
  return new Response(null, {
    status: 303,
    headers: { Location: target.href, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}
