import { setTimeout as wait } from "node:timers/promises";
import type { SupabaseClient } from "@supabase/supabase-js";
import { Secret, TOTP } from "otpauth";
import { must } from "./auth-server";

/** The code that an authenticator app shows. @param offset in steps of 30 seconds */
export function codeOf(secret: string, offset = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + offset * 30_000 });
}

/** Waits, where a 30-second step is about to end, for the next one: what is read in one must not be used in another. */
export async function earlyInStep(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 5_000) await wait(left + 50);
}

/** Adds an authenticator to whoever is signed in, with the code of one step ago: those of this and the next are left. */
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
