import type { ClientBase } from "pg";
import { asService, callAsService } from "@/lib/db/transaction";
import { onSignInShare } from "./database-share";
import { AuthProtocolError } from "./protocol";
import { answered, call, type OpenSession, type Refused } from "./sign-in-queries";

/** The user of a factor, and the session that makes the request. */
export type Holder = { userId: string; sessionId: string };

/** Why a function of `supabase/bootstrap/58_…` or `59_…` changed nothing. */
type RefusedChange = Refused<keyof typeof refusals>;

const notFound = [404, "Factor not found"] as const;
const lowLevel = (act: string) => `AAL2 required to ${act}`;

/** The status and description of each refusal. The codes are Supabase Auth's. */
const refusals = {
  session_not_found: [403, "Session from session_id claim in JWT does not exist"],
  mfa_factor_not_found: notFound,
  mfa_factor_name_conflict: [422, "A factor with this friendly name for this user already exists"],
  too_many_enrolled_mfa_factors: [422, "Maximum number of enrolled factors reached, unenroll to continue"],
  mfa_verified_factor_exists: [422, "Recovery codes exist already, regenerate them to get others"],
  mfa_recovery_codes_sole_factor: [422, "Recovery codes cannot be the only factor"],
  mfa_ip_address_mismatch: [422, "Challenge and verify IP addresses mismatch, or the challenge was used"],
  mfa_challenge_expired: [422, "MFA challenge has expired, create a new challenge."],
  mfa_verification_failed: [422, "Invalid recovery code entered"],
  validation_failed: [422, "This endpoint is not for factors of this type"],
  insufficient_aal: [403, lowLevel("do this")],
} as const satisfies Record<string, readonly [status: number, message: string]>;

/** Returns a result or throws its refusal. @param instead the status that Supabase Auth uses here, if it differs */
function settled<T extends object>(result: T | RefusedChange | null, instead?: number): T {
  const known = answered(result);
  if (!("refused" in known)) return known;
  const [status, message] = refusals[known.refused];
  throw new AuthProtocolError(instead ?? status, known.refused, message);
}

/** @throws AuthProtocolError insufficient_aal for a session that has not proved its user's second factor */
export async function requireSecondFactor(userId: string, sessionId: string): Promise<void> {
  if (!(await call<boolean>("lacks_second_factor", [sessionId, userId]))) return;
  const message = "AAL2 session is required to update email or password when MFA is enabled.";
  throw new AuthProtocolError(401, "insufficient_aal", message);
}

/** Stores a new, unverified authenticator. @throws AuthProtocolError */
export async function enrolTotp(
  { userId, sessionId }: Holder,
  name: string,
  secret: string,
): Promise<{ id: string }> {
  return settled(await call<{ id: string } | RefusedChange>("enrol_totp", [userId, sessionId, name, secret]));
}

/** @returns the challenge, and its end in Unix seconds. @throws AuthProtocolError */
export async function challengeFactor(
  { userId }: Holder,
  factorId: string,
  address: string | null,
): Promise<{ id: string; expires_at: number }> {
  type Challenge = { id: string; expires_at: number };
  return settled(await call<Challenge | RefusedChange>("challenge_factor", [userId, factorId, address]));
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
  const { factorId, challengeId, address } = asked;
  const which = [userId, sessionId, factorId, challengeId];
  const answer = async (client: ClientBase) => {
    type Opened = { secret: string; last_step: number | null; now_ms: number };
    const opened = settled(
      await call<Opened | RefusedChange>("open_challenge", [...which, address], client),
      422,
    );
    const step = stepOfAnswer(opened.secret, opened.now_ms);
    if (step === undefined)
      throw new AuthProtocolError(422, "mfa_verification_failed", "Invalid TOTP code entered");
    if (opened.last_step !== null && step <= opened.last_step) {
      const message = "Invalid TOTP code entered: it was used before, wait for the next one";
      throw new AuthProtocolError(422, "mfa_verification_failed", message);
    }
    type Passed = { session: OpenSession; was_enrolled: boolean };
    return answered(await call<Passed>("pass_challenge", [...which, step], client));
  };
  return onSignInShare(() => asService(answer));
}

/** Removes an authenticator. @throws AuthProtocolError */
export async function removeFactor(
  { userId, sessionId }: Holder,
  factorId: string,
): Promise<{ id: string; was_verified: boolean }> {
  type Removed = { id: string; was_verified: boolean };
  const removed = await call<Removed | RefusedChange>("remove_factor", [userId, sessionId, factorId]);
  // Supabase Auth answers 403 when a factor is enrolled and 422 when one is removed.
  return settled(
    removed,
    removed && "refused" in removed && removed.refused === "insufficient_aal" ? 422 : undefined,
  );
}

/** Counts all codes and unused ones. @throws AuthProtocolError mfa_factor_not_found */
export async function readRecoveryCodes(
  userId: string,
): Promise<{ id: string; total: number; remaining: number }> {
  type Status = { id: string; total: number; remaining: number };
  const refusal: RefusedChange = { refused: "mfa_factor_not_found" };
  return settled((await call<Status>("read_recovery_codes", [userId])) ?? refusal);
}

/** Stores a set of codes. @param replaces whether it replaces an existing one. @throws AuthProtocolError */
export async function keepRecoveryCodes(
  { userId, sessionId }: Holder,
  set: { name: string; hashes: string[]; replaces: boolean },
): Promise<{ id: string; friendly_name: string }> {
  type Kept = { id: string; friendly_name: string };
  const values = [userId, sessionId, set.name, set.hashes, set.replaces];
  return settled(await call<Kept | RefusedChange>("keep_recovery_codes", values));
}

/** Uses a recovery code and raises the session to `aal2`. @throws AuthProtocolError mfa_verification_failed */
export async function spendRecoveryCode(
  { userId, sessionId }: Holder,
  hash: string,
): Promise<{ session: OpenSession; remaining: number }> {
  type Spent = { session: OpenSession; remaining: number };
  return settled(await call<Spent | RefusedChange>("use_recovery_code", [userId, sessionId, hash]));
}

/** Deletes all recovery codes of a user. @throws AuthProtocolError mfa_factor_not_found, insufficient_aal */
export async function removeRecoveryCodes({ userId, sessionId }: Holder): Promise<{ id: string }> {
  return settled(await call<{ id: string } | RefusedChange>("remove_recovery_codes", [userId, sessionId]));
}

/** Adds an event of an account to the audit log of each of the user's workspaces. */
export async function auditAccount(
  user: { id: string; email: string },
  action: AccountEvent,
  address: string | null,
): Promise<void> {
  await onSignInShare(() => callAsService("private.audit_account", user.id, user.email, action, address));
}

/** Events of second factors in the audit log. */
export type AccountEvent =
  | "authenticator.created"
  | "authenticator.deleted"
  | "recovery_code.used"
  | "recovery_code.created"
  | "recovery_code.deleted";
