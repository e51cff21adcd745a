import { randomBytes } from "node:crypto";
import { z } from "zod";
import { hashSecret } from "@/lib/access/secrets/secret";
import { readBody } from "./bodies";
import {
  auditAccount,
  keepRecoveryCodes,
  readRecoveryCodes,
  removeRecoveryCodes,
  spendRecoveryCode,
} from "./factor-queries";
import { countGuess, forgetGuesses, limitAttempts } from "./limits";
import { sendNotice } from "./outbox";
import { jsonAnswer } from "./protocol";
import { requireSession } from "./require-session";
import { type Answer, encodeSession, type Origin } from "./session";

const codesInSet = 10;
/** Crockford's base 32: no two of its characters look alike. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const generateBody = z.object({
  friendly_name: z
    .string()
    .max(120)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must be printable text")
    .nullish(),
});
const verifyBody = z.object({ code: z.string().max(255) });

/** The endpoints of supabase-js's `auth.mfa.recoveryCodes`. */
export const recoveryCodeEndpoints: Record<string, Record<string, Answer>> = {
  "factors/recovery-codes": { GET: readStatus, POST: generate, DELETE: remove },
  "factors/recovery-codes/verify": { POST: verify },
  "factors/recovery-codes/regenerate": { POST: regenerate },
};

/** GET: how many codes there are and how many are unused, without the codes. */
async function readStatus(request: Request): Promise<Response> {
  const { user } = await requireSession(request);
  return jsonAnswer({ ...(await readRecoveryCodes(user.id)), type: "recovery_code" });
}

/** POST: creates the first set of codes. Only this response has them. The body is optional. */
async function generate(request: Request, origin: Origin): Promise<Response> {
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  const body = isEmpty ? {} : await readBody(request, generateBody);
  return answerWithSet(request, origin, body.friendly_name || "Recovery codes", false);
}

/** POST regenerate: replaces the codes; the earlier ones become invalid. */
async function regenerate(request: Request, origin: Origin): Promise<Response> {
  return answerWithSet(request, origin, "", true);
}

async function answerWithSet(request: Request, origin: Origin, name: string, replaces: boolean) {
  const { user, sessionId } = await requireSession(request);
  const codes = Array.from({ length: codesInSet }, makeCode);
  const hashes = codes.map(hashSecret);
  const kept = await keepRecoveryCodes({ userId: user.id, sessionId }, { name, hashes, replaces });
  await forgetGuesses("wrong recovery codes", user.id);
  await auditAccount(user, "recovery_code.created", origin.address);
  return jsonAnswer({ ...kept, type: "recovery_code", total: codesInSet, codes });
}

/** POST verify: uses a code and raises the session to `aal2`. */
async function verify(request: Request, origin: Origin): Promise<Response> {
  const { user, sessionId } = await requireSession(request);
  const { code } = await readBody(request, verifyBody);
  await limitAttempts("codes tried", origin);
  const forget = await countGuess("wrong recovery codes", user.id);
  const spent = await spendRecoveryCode({ userId: user.id, sessionId }, hashSecret(canonical(code)));
  await forget();
  await auditAccount(user, "recovery_code.used", origin.address);
  await sendNotice(user.email, "recoveryCodeUsed", `${spent.remaining} of your codes are left.`);
  return jsonAnswer(await encodeSession(spent.session));
}

/** DELETE: deletes all codes of the user. */
async function remove(request: Request, origin: Origin): Promise<Response> {
  const { user, sessionId } = await requireSession(request);
  const removed = await removeRecoveryCodes({ userId: user.id, sessionId });
  await auditAccount(user, "recovery_code.deleted", origin.address);
  return jsonAnswer(removed);
}

/** Sixteen characters of 5 bits each. */
function makeCode(): string {
  return Array.from(randomBytes(16), (byte) => alphabet[byte % 32]).join("");
}

/** The stored form of a typed code: case, spaces and dashes are ignored, and look-alikes are corrected. */
function canonical(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
}
