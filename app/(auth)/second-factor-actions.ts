"use server";

import { redirect } from "next/navigation";
import { z } from "zod";
import type { FormState } from "@/components/auth/auth-form";
import type { SecondFactorActions } from "@/components/second-factor/second-factor";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { readCodesLeft, readFactors } from "@/lib/access/sign-in/page-factors";
import { currentUser, pageSession, sessionUser } from "@/lib/access/sign-in/page-session";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";

// Server actions can be called with any values, so each argument is parsed.
const id = z.guid();
const text = z.string().max(120);
/** A code, without the spaces with which apps show it. */
const code = text.transform((typed) => typed.replace(/\s/g, ""));

/** Starts the enrolment of an authenticator app. Earlier enrolments that were not confirmed are removed. */
export const beginAuthenticator: SecondFactorActions["begin"] = async (name) => {
  if (!(await currentUser())) redirect("/sign-in");
  const session = await pageSession();
  const { mfa } = session.auth;
  for (const factorId of (await readFactors(session)).unconfirmed) await mfa.unenroll({ factorId });
  const friendlyName = text.parse(name).trim() || "Authenticator app";
  const { data, error } = await mfa.enroll({ factorType: "totp", friendlyName, issuer: "Outlay" });
  if (error) return { error: explainAuthError(error) };
  return { factorId: data.id, qrCode: data.totp.qr_code, secret: data.totp.secret };
};

/** Confirms an authenticator with its first code, and creates recovery codes when there are none and they are supported. */
export const confirmAuthenticator: SecondFactorActions["confirm"] = async (factorId, typed) => {
  if (!(await currentUser())) redirect("/sign-in");
  const session = await pageSession();
  const { mfa } = session.auth;
  const { error } = await mfa.challengeAndVerify({ factorId: id.parse(factorId), code: code.parse(typed) });
  if (error) return { error: explainAuthError(error) };
  if ((await readCodesLeft(session)) !== null) return { codes: null };
  const { data } = await mfa.recoveryCodes.generate();
  return { codes: data?.codes ?? null };
};

/** Removes an authenticator, given a code of it or of another one. With the last authenticator, recovery codes are removed, too. */
export const removeAuthenticator: SecondFactorActions["remove"] = async (factorId, by, typed) => {
  if (!(await currentUser())) redirect("/sign-in");
  const session = await pageSession();
  const { mfa } = session.auth;
  const removed = id.parse(factorId);
  const proof = await mfa.challengeAndVerify({ factorId: id.parse(by), code: code.parse(typed) });
  if (proof.error) return { error: explainAuthError(proof.error) };
  const { authenticators, hasRecoveryCodes } = await readFactors(session);
  if (hasRecoveryCodes && authenticators.every((factor) => factor.id === removed)) {
    const { error } = await mfa.recoveryCodes.unenroll();
    if (error) return { error: explainAuthError(error) };
  }
  const { error } = await mfa.unenroll({ factorId: removed });
  if (error) return { error: explainAuthError(error) };
  // Renews the session's token, which contains the proof of the second factor.
  await session.auth.refreshSession();
  return { removed };
};

/** Creates recovery codes. Existing ones stop working. */
export const renewRecoveryCodes: SecondFactorActions["renewCodes"] = async () => {
  if (!(await currentUser())) redirect("/sign-in");
  const session = await pageSession();
  const { recoveryCodes } = session.auth.mfa;
  const made = (await readCodesLeft(session)) ? recoveryCodes.regenerate() : recoveryCodes.generate();
  const { data, error } = await made;
  return error ? { error: explainAuthError(error) } : { codes: data.codes };
};

/** Signs in with the code of an authenticator app, after the password or the link. */
export async function submitCode(_: FormState, form: FormData): Promise<FormState> {
  const next = safePath(String(form.get("next") ?? ""));
  if (!(await sessionUser())) redirect(withNext("/sign-in", next));
  const factorId = id.safeParse(form.get("factor"));
  const given = code.safeParse(form.get("code"));
  if (!factorId.success || !given.success) return { error: "Enter the six digits that your app shows." };
  const { auth } = await pageSession();
  const { error } = await auth.mfa.challengeAndVerify({ factorId: factorId.data, code: given.data });
  if (error) return { error: explainAuthError(error) };
  redirect(next);
}

/** Signs in with a recovery code, after the password or the link. */
export async function submitRecoveryCode(_: FormState, form: FormData): Promise<FormState> {
  const next = safePath(String(form.get("next") ?? ""));
  if (!(await sessionUser())) redirect(withNext("/sign-in", next));
  const { auth } = await pageSession();
  const { error } = await auth.mfa.recoveryCodes.verify({
    code: String(form.get("code") ?? "").slice(0, 120),
  });
  if (error?.code === "mfa_verification_failed")
    return { error: "This is not one of your recovery codes, or it has been used already." };
  if (error) return { error: explainAuthError(error) };
  redirect(next);
}
