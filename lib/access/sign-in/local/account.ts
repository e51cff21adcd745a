import { bodies, checkNewPassword, pkceOf, readBody } from "./bodies";
import { requireSecondFactor } from "./factor-queries";
import { countGuess, countMail, limitAttempts } from "./limits";
import { makeChangeMails } from "./mails";
import { requirePlaceInQueue } from "./password-queue";
import { AuthProtocolError, jsonAnswer } from "./protocol";
import { requireSession } from "./require-session";
import type { Origin } from "./session";
import { closeSessions, type RefusedChange, updateUser } from "./sign-in-queries";

/** GET user: the signed-in user, read from the database, so that an ended session is refused at once. */
export async function readUser(request: Request): Promise<Response> {
  const { user } = await requireSession(request);
  return jsonAnswer(user);
}

/**
 * PUT user: changes the user's own data, password or mail address. A new password needs proof of identity; a new address
 * takes effect once both the present and the new one have confirmed it.
 */
export async function changeUser(request: Request, origin: Origin): Promise<Response> {
  const { user, sessionId } = await requireSession(request);
  const body = await readBody(request, bodies.updateUser);
  const { email, phone, password, current_password, nonce, data, app_metadata } = body;
  if (password !== undefined && password !== null) checkNewPassword(password);
  if (app_metadata !== undefined && app_metadata !== null)
    throw new AuthProtocolError(403, "not_admin", "Updating app_metadata requires admin privileges");
  if (phone) throw new AuthProtocolError(400, "phone_provider_disabled", "Phone logins are disabled");
  if (password) requirePlaceInQueue();
  await limitAttempts("changes of the account", origin, user.id);
  const wanted = email && email !== user.email ? email : undefined;
  if (password || wanted) await requireSecondFactor(user.id, sessionId);
  const change = makeChangeMails(pkceOf(body));
  if (wanted) for (const address of [user.email, wanted]) await countMail(address);
  const forget = password && current_password ? await countGuess("wrong passwords", user.email) : undefined;
  const outcome = await updateUser(user.id, sessionId, {
    ...(data !== undefined && { data }),
    ...(password && { password }),
    ...(current_password && { currentPassword: current_password }),
    ...(nonce && { nonce }),
    ...(wanted && { email: wanted, mail: change.mails }),
  });
  if ("refused" in outcome) throw new AuthProtocolError(...refusedChanges[outcome.refused]);
  await forget?.();
  if (wanted) await change.send(request, user.email, wanted);
  return jsonAnswer(outcome.user);
}

const refusedChanges: Record<RefusedChange, [status: number, code: string, message: string]> = {
  same_password: [422, "same_password", "New password should be different from the old password."],
  email_exists: [422, "email_exists", "A user with this email address has already been registered"],
  current_password_invalid: [400, "current_password_invalid", "The current password is not correct."],
  reauthentication_needed: [
    400,
    "reauthentication_needed",
    "Password update requires reauthentication: send the present password as current_password, or as nonce the code that GET /reauthenticate mails.",
  ],
  reauthentication_not_valid: [422, "reauthentication_not_valid", "Nonce has expired or is invalid"],
  user_data_too_large: [400, "validation_failed", "data: user data may have at most 3072 bytes in all"],
  conflict: [409, "conflict", "The password was changed at the same time. Try again."],
};

/**
 * POST logout?scope=: ends this session (`local`), all of the user's (`global`, the default), or all others (`others`).
 */
export async function signOut(request: Request): Promise<Response> {
  const scope = new URL(request.url).searchParams.get("scope") ?? "global";
  if (!["global", "local", "others"].includes(scope)) {
    throw new AuthProtocolError(400, "validation_failed", "Unsupported logout scope");
  }
  const { user, sessionId } = await requireSession(request);
  await closeSessions(user.id, sessionId, scope);
  return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
}
