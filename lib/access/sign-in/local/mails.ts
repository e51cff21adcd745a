import { randomInt } from "node:crypto";
import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { serviceAddress } from "@/lib/service-address";
import { bodies, pkceOf, readBody } from "./bodies";
import { countMail, limitAttempts } from "./limits";
import { sendMail } from "./outbox";
import { AuthProtocolError, invalidRequest, jsonAnswer } from "./protocol";
import { allowedRedirect } from "./redirect-target";
import { requireSession } from "./require-session";
import type { Origin } from "./session";
import {
  type ChangeMails,
  issueReauthentication,
  issueSignInMail,
  type Pkce,
  renewEmailChange,
  type SignInPurpose,
} from "./sign-in-queries";

/** POST recover: mails a link to choose a new password. The response is the same for every address. */
export async function recover(request: Request, origin: Origin): Promise<Response> {
  const { email, ...body } = await readBody(request, bodies.recover);
  if (!email) throw invalidRequest("Password recovery requires an email");
  await limitAttempts("mails asked for", origin);
  await mailSignIn(request, { email, purpose: "recovery", mayCreate: false, data: {}, ...pkceOf(body) });
  return jsonAnswer({});
}

/**
 * POST otp, and its former name magiclink: mails a link and six digits to sign in with. Creates the account unless
 * `create_user` is false.
 */
export async function sendOtp(request: Request, origin: Origin): Promise<Response> {
  const { email, phone, create_user, data, ...body } = await readBody(request, bodies.otp);
  if (email && phone) throw invalidRequest("Only an email address or phone number should be provided");
  if (phone) throw new AuthProtocolError(400, "phone_provider_disabled", "Unsupported phone provider");
  if (!email) throw invalidRequest("One of email or phone must be set");
  await limitAttempts("mails asked for", origin);
  await mailSignIn(request, { email, purpose: "magiclink", mayCreate: create_user, data, ...pkceOf(body) });
  return jsonAnswer({});
}

/** POST resend: sends the mails of a change of address again. Sign-up needs no confirmation, so it has no mail. */
export async function resend(request: Request, origin: Origin): Promise<Response> {
  const { type, email, phone, ...body } = await readBody(request, bodies.resend);
  if (!["signup", "email_change", "sms", "phone_change"].includes(type))
    throw invalidRequest("Missing one of these types: signup, email_change, sms, phone_change");
  if (email && phone) throw invalidRequest("Only an email address or phone number should be provided.");
  if (phone) throw new AuthProtocolError(400, "phone_provider_disabled", "Phone logins are disabled");
  if (!email) throw invalidRequest("Missing email address or phone number");
  await limitAttempts("mails asked for", origin);
  if (type !== "email_change") return jsonAnswer({});
  await countMail(email);
  const change = makeChangeMails(pkceOf(body));
  const wanted = await renewEmailChange(email, change.mails);
  if (wanted) await change.send(request, email, wanted);
  return jsonAnswer({});
}

/** GET reauthenticate: mails the signed-in user six digits, with which they confirm a new password. */
export async function reauthenticate(request: Request, origin: Origin): Promise<Response> {
  const { user } = await requireSession(request);
  await limitAttempts("mails asked for", origin);
  await countMail(user.email);
  const code = makeCode();
  await issueReauthentication(user.id, code);
  await sendMail({ email: user.email, purpose: "reauthentication", code });
  return jsonAnswer({});
}

/**
 * Generates the secrets of the two mails that confirm a new address. `send` sends the mails, once the change is stored.
 */
export function makeChangeMails(pkce: Pkce): {
  mails: ChangeMails;
  send(request: Request, current: string, wanted: string): Promise<void>;
} {
  const [forCurrent, forNew] = [makeSecrets(), makeSecrets()];
  return {
    mails: { current: forCurrent.kept, new: forNew.kept, ...pkce },
    send: async (request, current, wanted) => {
      const linkTo = ({ token }: { token: string }) => makeLink(request, token, "email_change");
      await sendMail({
        email: current,
        purpose: "email_change_current",
        about: wanted,
        link: linkTo(forCurrent),
        code: forCurrent.kept.code,
      });
      await sendMail({
        email: wanted,
        purpose: "email_change_new",
        about: wanted,
        link: linkTo(forNew),
        code: forNew.kept.code,
      });
    },
  };
}

type SignInMail = {
  email: string;
  purpose: SignInPurpose;
  mayCreate: boolean;
  data: Record<string, unknown>;
} & Pkce;

async function mailSignIn(request: Request, asked: SignInMail): Promise<void> {
  const { email, purpose } = asked;
  await countMail(email);
  const { token, kept } = makeSecrets();
  const known = await issueSignInMail({ ...asked, ...kept });
  const link = makeLink(request, token, purpose);
  await sendMail(known ? { email, purpose, link, code: kept.code } : { email, purpose: "unknown" });
}

function makeSecrets() {
  const token = generateToken();
  return { token, kept: { linkHash: hashSecret(token), code: makeCode() } };
}

function makeCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

function makeLink(request: Request, token: string, type: string): string {
  const redirect = allowedRedirect(new URL(request.url).searchParams.get("redirect_to"));
  const query = new URLSearchParams({ token, type, redirect_to: redirect.href });
  return `${serviceAddress()}/auth/v1/verify?${query}`;
}
