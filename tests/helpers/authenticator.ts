import { setTimeout as wait } from "node:timers/promises";
import type { SupabaseClient } from "@supabase/supabase-js";
import { Secret, TOTP } from "otpauth";
import { must } from "./auth-server";

/** The code that an authenticator app shows. @param offset in steps of 30 seconds */
export function codeOf(secret: string, offset = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + offset * 30_000 });
}

/**
 * Waits for the next 30-second step if the present one is about to end, so that a code is used in the step in which it was
 * computed.
 */
export async function earlyInStep(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 5_000) await wait(left + 50);
}

/**
 * Enrols an authenticator for the signed-in user with the code of the previous step, so that the codes of this step and
 * the next are unused.
 */
export async function enrolAuthenticator(
  { auth }: SupabaseClient,
  friendlyName = "Phone",
): Promise<{ factorId: string; secret: string }> {
  await earlyInStep();
  const factor = must(await auth.mfa.enroll({ factorType: "totp", friendlyName }));
  const { secret } = factor.totp;
  must(await auth.mfa.challengeAndVerify({ factorId: factor.id, code: codeOf(secret, -1) }));
  return { factorId: factor.id, secret };
}
