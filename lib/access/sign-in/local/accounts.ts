import { z } from "zod";
import { createUser, type RefusedChange, updateUser } from "./account-queries";
import { requireSecondFactor } from "./factor-queries";
import { countGuess, countMail, limitAttempts } from "./limits";
import { makeChangeMails } from "./mails";
import { AuthProtocolError, invalidRequest, jsonAnswer } from "./protocol";
import { inPasswordQueue, requirePlaceInQueue } from "./queues";
import { email, metadata, type Origin, pkce, readBody, requireSession, short } from "./request";
import { answerSession } from "./sessions";

const minPasswordLength = 8;
/** bcrypt ignores everything after 72 bytes. */
const maxPasswordBytes = 72;

/** @throws AuthProtocolError for a password that is too weak, or too long to be stored whole */
function checkNewPassword(password: string): void {
  if (Buffer.byteLength(password) > maxPasswordBytes)
    throw invalidRequest(`A password has at most ${maxPasswordBytes} bytes.`);
  if (password.length >= minPasswordLength) return;
  const message = `A password has at least ${minPasswordLength} characters.`;
  throw new AuthProtocolError(422, "weak_password", message, { weak_password: { reasons: ["length"] } });
}

const signUpBody = z.object({ email, password: z.string(), data: metadata.default({}) });

/** POST signup: creates an account, which needs no confirmation, and signs it in. */
export async function signUp(request: Request, origin: Origin): Promise<Response> {
  const { email, password, data } = await readBody(request, signUpBody);
  checkNewPassword(password);
  requirePlaceInQueue();
  await limitAttempts("sign-ups", origin, email);
  const user = await inPasswordQueue((client) => createUser(email, password, data, client));
  if (!user) throw new AuthProtocolError(422, "user_already_exists", "There is an account for this address.");
  return answerSession(user.id, "password", origin);
}

/** GET user: the signed-in user, read from the database, so that an ended session is refused at once. */
export async function readUser(request: Request): Promise<Response> {
  const { user } = await requireSession(request);
  return jsonAnswer(user);
}

const changeBody = z.object({
  email: email.optional(),
  password: z.string().optional(),
  current_password: z.string().optional(),
  nonce: short.optional(),
  data: metadata.optional(),
  ...pkce,
});

/**
 * PUT user: changes the user's own data, password or mail address. A new password needs proof of identity; a new address
 * takes effect once both the present and the new one have confirmed it.
 */
export async function changeUser(request: Request, origin: Origin): Promise<Response> {
  const { user, sessionId } = await requireSession(request);
  const body = await readBody(request, changeBody);
  const { password, current_password, nonce, data } = body;
  if (password !== undefined) {
    checkNewPassword(password);
    requirePlaceInQueue();
  }
  await limitAttempts("changes of the account", origin, user.id);
  const wanted = body.email === user.email ? undefined : body.email;
  if (password !== undefined || wanted) await requireSecondFactor({ userId: user.id, sessionId });
  if (wanted) for (const address of [user.email, wanted]) await countMail(address);
  const confirmation = wanted ? makeChangeMails(body.code_challenge) : undefined;
  const isGuess = password !== undefined && current_password !== undefined;
  const forget = isGuess ? await countGuess("wrong passwords", user.email) : undefined;
  const changes = { data, password, current_password, nonce, email: wanted, mail: confirmation?.secrets };
  const outcome = await updateUser(user.id, sessionId, changes);
  if ("refused" in outcome) {
    const [status, message] = refusedChanges[outcome.refused];
    const code = outcome.refused === "user_data_too_large" ? "validation_failed" : outcome.refused;
    throw new AuthProtocolError(status, code, message);
  }
  await forget?.();
  if (wanted) await confirmation?.send(request, user.email, wanted);
  return jsonAnswer(outcome.user);
}

const refusedChanges: Record<RefusedChange, [status: number, message: string]> = {
  same_password: [422, "This is already the password of the account. Choose another."],
  email_exists: [422, "There is an account for this address."],
  current_password_invalid: [400, "The current password is not correct."],
  reauthentication_needed: [
    400,
    "To change the password, send the current one as current_password, or the code that GET /reauthenticate mails as nonce.",
  ],
  reauthentication_not_valid: [422, "The nonce is wrong or has expired."],
  user_data_too_large: [400, "data: may have at most 3072 bytes in all."],
  conflict: [409, "The password was changed at the same time. Try again."],
};
