import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";
import { z } from "zod";
import { serviceAddress } from "@/lib/service-address";
import { readBody } from "./bodies";
import {
  answerChallenge,
  auditAccount,
  challengeFactor,
  enrolTotp,
  type Holder,
  removeFactor,
} from "./factor-queries";
import { countGuess, limitAttempts } from "./limits";
import { sendNotice } from "./outbox";
import { AuthProtocolError, jsonAnswer } from "./protocol";
import { requireSession } from "./require-session";
import { type Answer, encodeSession, type Origin } from "./session";

/** The parameters that every authenticator app assumes (RFC 6238 with its defaults). */
const shape = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/** What an authenticator app needs: the secret in base32, as a URI, and that URI as a QR code. */
type Enrolment = { secret: string; uri: string; qrCode: string };

/** Generates a secret of 160 bits, as RFC 4226 section 4 recommends. @param issuer the name that the app shows */
function makeEnrolment(issuer: string, account: string): Enrolment {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ ...shape, issuer, label: account, secret }).toString();
  // Named colours: the Supabase client puts the picture into a data URL, which a `#` would truncate.
  const qrCode = renderSVG(uri, {
    ecc: "M",
    border: 2,
    pixelSize: 4,
    blackColor: "black",
    whiteColor: "white",
  });
  return { secret: secret.base32, uri, qrCode };
}

/**
 * Finds the 30-second step of a code: the present one, the one before or the one after (RFC 6238 section 5.2). Codes are
 * compared in constant time.
 * @param nowMs the database's Unix time in milliseconds, so that all processes agree
 * @returns undefined for a wrong code
 */
function stepOf(code: string, secret: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const totp = new TOTP({ ...shape, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / shape.period) + delta;
}

const name = z
  .string()
  .max(120)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must be printable text");

const enrolBody = z.object({
  factor_type: z.string(),
  friendly_name: name.nullish(),
  issuer: name.nullish(),
});
const verifyBody = z.object({ challenge_id: z.guid(), code: z.string().max(255).optional() });

/** The endpoints of supabase-js's `auth.mfa`. Paths of recovery codes must be matched before `:factorId`. */
export const factorEndpoints: Record<string, Record<string, Answer>> = {
  factors: { POST: enrol },
  "factors/:factorId": { DELETE: unenrol },
  "factors/:factorId/challenge": { POST: challenge },
  "factors/:factorId/verify": { POST: verify },
};

type Params = Record<string, string>;

/** POST factors: begins the enrolment of an authenticator app. Only this response has the secret. */
async function enrol(request: Request, origin: Origin): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { factor_type: type, friendly_name: friendlyName, issuer } = await readBody(request, enrolBody);
  if (type === "phone" || type === "webauthn") {
    const word = type === "phone" ? "Phone" : "WebAuthn";
    throw new AuthProtocolError(422, `mfa_${type}_enroll_not_enabled`, `MFA enroll is disabled for ${word}`);
  }
  if (type !== "totp") {
    const message = "factor_type needs to be totp, phone, or webauthn";
    throw new AuthProtocolError(400, "validation_failed", message);
  }
  await limitAttempts("codes tried", origin);
  const made = makeEnrolment(issuer || new URL(serviceAddress()).host, user.email);
  const { id } = await enrolTotp(holder, friendlyName ?? "", made.secret);
  return jsonAnswer({
    id,
    type,
    friendly_name: friendlyName ?? "",
    totp: { qr_code: made.qrCode, secret: made.secret, uri: made.uri },
  });
}

/** POST factors/{id}/challenge: creates a challenge, to be answered within five minutes from the same address. */
async function challenge(request: Request, origin: Origin, params: Params): Promise<Response> {
  const { user: _, ...holder } = await requireHolder(request);
  await limitAttempts("codes tried", origin);
  const made = await challengeFactor(holder, readId(params), origin.address);
  return jsonAnswer({ ...made, type: "totp" });
}

/** POST factors/{id}/verify: raises the session for a right code; the first one completes the enrolment. */
async function verify(request: Request, origin: Origin, params: Params): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { challenge_id: challengeId, code } = await readBody(request, verifyBody);
  if (!code) throw new AuthProtocolError(400, "validation_failed", "Code needs to be non-empty");
  await limitAttempts("codes tried", origin);
  const forget = await countGuess("wrong codes", holder.userId);
  const asked = { factorId: readId(params), challengeId, address: origin.address };
  const passed = await answerChallenge(holder, asked, (secret, nowMs) => stepOf(code, secret, nowMs));
  await forget();
  if (!passed.was_enrolled) {
    await auditAccount(user, "authenticator.created", origin.address);
    await sendNotice(user.email, "factorAdded");
  }
  return jsonAnswer(await encodeSession(passed.session));
}

/** DELETE factors/{id}: removes an authenticator. Removing a verified one requires a session with `aal2`. */
async function unenrol(request: Request, origin: Origin, params: Params): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { id, was_verified: wasVerified } = await removeFactor(holder, readId(params));
  if (wasVerified) {
    await auditAccount(user, "authenticator.deleted", origin.address);
    await sendNotice(user.email, "factorRemoved");
  }
  return jsonAnswer({ id });
}

/** @throws AuthProtocolError validation_failed for an invalid id, as Supabase Auth does */
function readId({ factorId }: Params): string {
  const id = z.guid().safeParse(factorId);
  if (id.success) return id.data;
  throw new AuthProtocolError(404, "validation_failed", "factor_id must be an UUID");
}

async function requireHolder(request: Request): Promise<Holder & { user: { id: string; email: string } }> {
  const { user, sessionId } = await requireSession(request);
  return { user, userId: user.id, sessionId };
}
