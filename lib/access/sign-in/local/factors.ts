import { randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";
import { z } from "zod";
import { hashSecret } from "@/lib/access/secrets/secret";
import { serviceAddress } from "@/lib/service-address";
import { encodeSession } from "./access-token";
import {
  answerChallenge,
  auditAccount,
  challengeFactor,
  enrolTotp,
  factorRefusal,
  type Holder,
  readRecoveryCodes,
  redeemRecoveryCode,
  removeFactor,
  removeRecoveryCodes,
  storeRecoveryCodes,
} from "./factor-queries";
import { countGuess, forgetGuesses, limitAttempts } from "./limits";
import { sendNotice } from "./outbox";
import { jsonAnswer, notSupported } from "./protocol";
import { type Answer, type Origin, readBody, requireSession, short } from "./request";

type Params = Record<string, string>;

/** The endpoints of supabase-js's `auth.mfa`. Those of recovery codes must be matched before `:factorId`. */
export const factorEndpoints: Record<string, Record<string, Answer>> = {
  "factors/recovery-codes": { GET: readCodes, POST: generateCodes, DELETE: deleteCodes },
  "factors/recovery-codes/verify": { POST: verifyRecoveryCode },
  "factors/recovery-codes/regenerate": { POST: regenerateCodes },
  factors: { POST: enrol },
  "factors/:factorId": { DELETE: unenrol },
  "factors/:factorId/challenge": { POST: challenge },
  "factors/:factorId/verify": { POST: verifyTotp },
};

async function requireHolder(request: Request): Promise<Holder & { user: { id: string; email: string } }> {
  const { user, sessionId } = await requireSession(request);
  return { user, userId: user.id, sessionId };
}

/** @throws AuthProtocolError mfa_factor_not_found if the parameter is not an id */
function readId({ factorId }: Params): string {
  const id = z.guid().safeParse(factorId);
  if (!id.success) throw factorRefusal("mfa_factor_not_found");
  return id.data;
}

/** The parameters that every authenticator app assumes (RFC 6238 with its defaults). */
const shape = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/**
 * Generates a secret of 160 bits for an authenticator app, as RFC 4226 section 4 recommends: in base32, as a URI, and as a QR code
 * of that URI.
 * @param issuer the name that the app shows
 */
function makeTotp(issuer: string, account: string) {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ ...shape, issuer, label: account, secret }).toString();
  // Named colours: the Supabase client puts the picture into a data URL, which a `#` would truncate.
  const colours = { blackColor: "black", whiteColor: "white" };
  return {
    secret: secret.base32,
    uri,
    qr_code: renderSVG(uri, { ecc: "M", border: 2, pixelSize: 4, ...colours }),
  };
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

const printable = z
  .string()
  .max(120, "may have at most 120 characters")
  .refine((text) => !/\p{Cc}/u.test(text), "must be printable text");
const enrolBody = z.object({
  factor_type: z.string(),
  friendly_name: printable.default(""),
  issuer: printable.optional(),
});

/** POST factors: begins the enrolment of an authenticator app. Only this response has the secret. */
async function enrol(request: Request, origin: Origin): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { factor_type: type, friendly_name, issuer } = await readBody(request, enrolBody);
  if (type !== "totp") throw notSupported("this factor_type");
  await limitAttempts("codes tried", origin);
  const totp = makeTotp(issuer || new URL(serviceAddress()).host, user.email);
  const { id } = await enrolTotp(holder, friendly_name, totp.secret);
  return jsonAnswer({ id, type, friendly_name, totp });
}

/** POST factors/{id}/challenge: creates a challenge, to be answered within five minutes from the same address. */
async function challenge(request: Request, origin: Origin, params: Params): Promise<Response> {
  const holder = await requireHolder(request);
  await limitAttempts("codes tried", origin);
  const made = await challengeFactor(holder, readId(params), origin.address);
  return jsonAnswer({ ...made, type: "totp" });
}

const verifyTotpBody = z.object({ challenge_id: z.guid("must be an id"), code: short });

/** POST factors/{id}/verify: raises the session to `aal2` for a correct code. The first correct code completes the enrolment. */
async function verifyTotp(request: Request, origin: Origin, params: Params): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { challenge_id: challengeId, code } = await readBody(request, verifyTotpBody);
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

const codesInSet = 10;
/** Crockford's base 32: no two of its characters look alike. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Sixteen characters of 5 bits each. */
function makeRecoveryCode(): string {
  return Array.from(randomBytes(16), (byte) => alphabet[byte % 32]).join("");
}

/** The stored form of a typed code: case, spaces and dashes are ignored, and look-alikes are corrected. */
function canonical(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
}

/** GET factors/recovery-codes: how many codes there are and how many are unused, without the codes. */
async function readCodes(request: Request): Promise<Response> {
  const { userId } = await requireHolder(request);
  return jsonAnswer({ ...(await readRecoveryCodes(userId)), type: "recovery_code" });
}

/** POST factors/recovery-codes: creates the first set of codes. Only this response has them. */
async function generateCodes(request: Request, origin: Origin): Promise<Response> {
  return answerWithCodes(request, origin, false);
}

/** POST factors/recovery-codes/regenerate: replaces the codes; the earlier ones become invalid. */
async function regenerateCodes(request: Request, origin: Origin): Promise<Response> {
  return answerWithCodes(request, origin, true);
}

async function answerWithCodes(request: Request, origin: Origin, replaces: boolean): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const codes = Array.from({ length: codesInSet }, makeRecoveryCode);
  const { id } = await storeRecoveryCodes(holder, codes.map(hashSecret), replaces);
  await forgetGuesses("wrong recovery codes", user.id);
  await auditAccount(user, "recovery_code.created", origin.address);
  return jsonAnswer({ id, type: "recovery_code", total: codesInSet, codes });
}

const verifyCodeBody = z.object({ code: short });

/** POST factors/recovery-codes/verify: uses a code and raises the session to `aal2`. */
async function verifyRecoveryCode(request: Request, origin: Origin): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const { code } = await readBody(request, verifyCodeBody);
  await limitAttempts("codes tried", origin);
  const forget = await countGuess("wrong recovery codes", user.id);
  const spent = await redeemRecoveryCode(holder, hashSecret(canonical(code)));
  await forget();
  await auditAccount(user, "recovery_code.used", origin.address);
  await sendNotice(user.email, "recoveryCodeUsed", `${spent.remaining} of your codes are left.`);
  return jsonAnswer(await encodeSession(spent.session));
}

/** DELETE factors/recovery-codes: deletes all codes of the user. */
async function deleteCodes(request: Request, origin: Origin): Promise<Response> {
  const { user, ...holder } = await requireHolder(request);
  const removed = await removeRecoveryCodes(holder);
  await auditAccount(user, "recovery_code.deleted", origin.address);
  return jsonAnswer(removed);
}
