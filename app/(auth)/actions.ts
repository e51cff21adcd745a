"use server";

import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { beganByRecentMail } from "@/lib/access/sign-in/began-by-mail";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { currentUser, pageOrigin, pageSession } from "@/lib/access/sign-in/page-session";
import { homePath, safePath, withNext } from "@/lib/access/sign-in/safe-path";

const textOf = (form: FormData, name: string) => String(form.get(name) ?? "").trim();
/** As typed: a password may begin or end with a space. */
const passwordOf = (form: FormData) => String(form.get("password") ?? "");

/** Where a link in a mail brings people back to, and on from there. */
const callback = async (next: string) => `${await pageOrigin()}/callback?next=${encodeURIComponent(next)}`;

/** Signs in with a password. */
export async function signIn(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const { data, error } = await auth.signInWithPassword({ email, password: passwordOf(form) });
  if (error) return { error: explainAuthError(error), email };
  const next = safePath(textOf(form, "next"));
  const hasSecondFactor = data.user.factors?.some(({ status }) => status === "verified");
  redirect(hasSecondFactor ? withNext("/sign-in/code", next) : next);
}

/** Makes an account. Where the identity provider wants the address confirmed, that comes first. */
export async function signUp(_: FormState, form: FormData): Promise<FormState> {
  const [email, name] = [textOf(form, "email"), textOf(form, "name")];
  const next = safePath(textOf(form, "next"));
  const { auth } = await pageSession();
  const { data, error } = await auth.signUp({
    email,
    password: passwordOf(form),
    options: { data: { display_name: name.slice(0, 120) }, emailRedirectTo: await callback(next) },
  });
  if (error) return { error: explainAuthError(error), email, name };
  if (!data.session)
    return { notice: `We sent a link to ${email}. Open it in this browser to confirm the address.` };
  redirect(next);
}

/** Asks for a link with which to choose a new password. */
export async function requestReset(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const { error } = await auth.resetPasswordForEmail(email, { redirectTo: await callback("/reset/new") });
  if (error) return { error: explainAuthError(error), email };
  return {
    notice: `If there is an account for ${email}, a link is on its way. Open it in this browser; it works for an hour.`,
  };
}

/** Asks for a link to sign in with. Makes no account: a mistyped address would become one. */
export async function requestLink(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const next = safePath(textOf(form, "next"));
  const options = { emailRedirectTo: await callback(next), shouldCreateUser: false };
  const { error } = await auth.signInWithOtp({ email, options });
  // A hosted project says so where there is no account; the page does not pass it on.
  if (error && error.code !== "otp_disabled") return { error: explainAuthError(error), email };
  return {
    notice: `If there is an account for ${email}, a link is on its way. Open it in this browser; it works for an hour.`,
  };
}

/** Sets a new password for whom a link by mail signed in. Somebody who finds a browser open is not among them. */
export async function chooseNewPassword(_: FormState, form: FormData): Promise<FormState> {
  const claims = await currentUser();
  if (!claims || !beganByRecentMail(claims)) redirect("/reset");
  const { auth } = await pageSession();
  const { error } = await auth.updateUser({ password: passwordOf(form) });
  if (error) return { error: explainAuthError(error) };
  redirect(homePath);
}

/** Signs out here; other devices stay signed in. */
export async function signOut(): Promise<void> {
  const { auth } = await pageSession();
  await auth.signOut({ scope: "local" });
  redirect("/sign-in");
}
