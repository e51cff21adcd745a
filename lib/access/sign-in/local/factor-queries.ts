import type { ClientBase } from "pg";
import { asService, callAsService } from "@/lib/db/transaction";
import { type AccountRefusal, answered, call, type OpenSession } from "./account-queries";
import { AuthProtocolError } from "./protocol";
import { onSignInShare } from "./queues";

/** The user of a factor, and the session that makes the request. */
export type Holder = { userId: string; sessionId: string };

/** The status and description of each refusal of the functions in `supabase/bootstrap/55_…`. The codes are Supabase Auth's. */
const refusals = {
  session_not_found: [403, "This session is over. Sign in again."],
  mfa_factor_not_found: [404, "There is no such factor."],
  mfa_factor_name_conflict: [422, "There is a factor of this name already."],
  too_many_enrolled_mfa_factors: [422, "An account may have ten factors. Remove one first."],
  mfa_verified_factor_exists: [422, "There are recovery codes already. Regenerate them to get others."],
  mfa_recovery_codes_sole_factor: [422, "Recovery codes cannot be the only factor."],
  mfa_challenge_expired: [
    422,
    "This challenge is over five minutes old, was answered, or is of another address.",
  ],
  mfa_verification_failed: [422, "This code is wrong or was used before."],
  insufficient_aal: [403, "This needs a session that has proved its second factor (aal2)."],
} as const satisfies Record<string, readonly [status: number, message: string]>;

type RefusedFactor = AccountRefusal<keyof typeof refusals>;

/** The refusal of a request about a factor. */
export function factorRefusal(code: keyof typeof refusals): AuthProtocolError {
  const [status, message] = refusals[code];
  return new AuthProtocolError(status, code, message);
}

/** Calls a function that may refuse. @throws AuthProtocolError */
async function callOrRefuse<T extends object>(
  name: string,
  values: unknown[],
  client?: ClientBase,
): Promise<T> {
  const result = answered(await call<T | RefusedFactor>(name, values, client));
  if ("refused" in result) throw factorRefusal(result.refused);
  return result;
}

/** @throws AuthProtocolError insufficient_aal for a session that has not proved its user's second factor */
export async function requireSecondFactor({ userId, sessionId }: Holder): Promise<void> {
  if (await call<boolean>("lacks_second_factor", [sessionId, userId]))
    throw factorRefusal("insufficient_aal");
}

/** Stores a new, unverified authenticator. @throws AuthProtocolError */
export function enrolTotp(
  { userId, sessionId }: Holder,
  name: string,
  secret: string,
): Promise<{ id: string }> {
  return callOrRefuse("enrol_totp", [userId, sessionId, name, secret]);
}

/** @returns the challenge, and its end in Unix seconds. @throws AuthProtocolError */
export function challengeFactor(
  { userId }: Holder,
  factorId: string,
  address: string | null,
): Promise<{ id: string; expires_at: number }> {
  return callOrRefuse("challenge_factor", [userId, factorId, address]);
}

/**
 * Verifies the answer to a challenge. The user's row is locked from reading the secret until the answer is stored, so
 * that only one of two requests with the same code succeeds.
 * @param stepOfAnswer finds the time step of the code; undefined for a wrong code
 * @throws AuthProtocolError
 */
export function answerChallenge(
  { userId, sessionId }: Holder,
  asked: { factorId: string; challengeId: string; address: string | null },
  stepOfAnswer: (secret: string, nowMs: number) => number | undefined,
): Promise<{ session: OpenSession; was_enrolled: boolean }> {
  const which = [userId, sessionId, asked.factorId, asked.challengeId];
  const answer = async (client: ClientBase) => {
    type Opened = { secret: string; last_step: number | null; now_ms: number };
    const opened = await callOrRefuse<Opened>("open_challenge", [...which, asked.address], client);
    const step = stepOfAnswer(opened.secret, opened.now_ms);
    if (step === undefined || (opened.last_step !== null && step <= opened.last_step))
      throw factorRefusal("mfa_verification_failed");
    type Passed = { session: OpenSession; was_enrolled: boolean };
    return callOrRefuse<Passed>("pass_challenge", [...which, step], client);
  };
  return onSignInShare(() => asService(answer));
}

/** Removes an authenticator. @throws AuthProtocolError */
export function removeFactor(
  { userId, sessionId }: Holder,
  factorId: string,
): Promise<{ id: string; was_verified: boolean }> {
  return callOrRefuse("remove_factor", [userId, sessionId, factorId]);
}

/** Counts all codes and unused ones. @throws AuthProtocolError mfa_factor_not_found */
export function readRecoveryCodes(userId: string): Promise<{ id: string; total: number; remaining: number }> {
  return callOrRefuse("read_recovery_codes", [userId]);
}

/** Stores a set of codes. @param replaces whether it replaces an existing one. @throws AuthProtocolError */
export function storeRecoveryCodes(
  { userId, sessionId }: Holder,
  hashes: string[],
  replaces: boolean,
): Promise<{ id: string }> {
  return callOrRefuse("keep_recovery_codes", [userId, sessionId, hashes, replaces]);
}

/** Uses a recovery code and raises the session to `aal2`. @throws AuthProtocolError mfa_verification_failed */
export function redeemRecoveryCode(
  { userId, sessionId }: Holder,
  hash: string,
): Promise<{ session: OpenSession; remaining: number }> {
  return callOrRefuse("use_recovery_code", [userId, sessionId, hash]);
}

/** Deletes all recovery codes of a user. @throws AuthProtocolError mfa_factor_not_found, insufficient_aal */
export function removeRecoveryCodes({ userId, sessionId }: Holder): Promise<{ id: string }> {
  return callOrRefuse("remove_recovery_codes", [userId, sessionId]);
}

/** Events of second factors in the audit log. */
export type FactorEvent =
  | "authenticator.created"
  | "authenticator.deleted"
  | "recovery_code.used"
  | "recovery_code.created"
  | "recovery_code.deleted";

/** Adds an event of an account to the audit log of each of the user's workspaces. */
export async function auditAccount(
  user: { id: string; email: string },
  action: FactorEvent,
  address: string | null,
): Promise<void> {
  await onSignInShare(() => callAsService("private.audit_account", user.id, user.email, action, address));
}
