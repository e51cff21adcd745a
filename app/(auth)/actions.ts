"use server";

import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { beganByRecentMail } from "@/lib/access/sign-in/began-by-mail";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { currentUser, endPageSession, pageOrigin, pageSession } from "@/lib/access/sign-in/page-session";
import { homePath, safePath, withNext } from "@/lib/access/sign-in/safe-path";

const textOf = (form: FormData, name: string) => String(form.get(name) ?? "").trim();
/** Not trimmed: a password may begin or end with a space. */
const passwordOf = (form: FormData) => String(form.get("password") ?? "");

/** The address for links in mails, which redirects to `next` after it has signed the user in. */
const callback = async (next: string) => `${await pageOrigin()}/callback?next=${encodeURIComponent(next)}`;

/** Signs in with a password. If the account has a second factor, the next page asks for its code. */
export async function signIn(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const { data, error } = await auth.signInWithPassword({ email, password: passwordOf(form) });
  if (error) return { error: explainAuthError(error), email };
  const next = safePath(textOf(form, "next"));
  const hasSecondFactor = data.user.factors?.some(({ status }) => status === "verified");
  redirect(hasSecondFactor ? withNext("/sign-in/code", next) : next);
}

/** Creates an account. When the identity provider requires it, the user must confirm the e-mail address first. */
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

/** Sends a link for choosing a new password. */
export async function requestReset(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const { error } = await auth.resetPasswordForEmail(email, { redirectTo: await callback("/reset/new") });
  if (error) return { error: explainAuthError(error), email };
  return {
    notice: `If there is an account for ${email}, a link is on its way. Open it in this browser; it works for an hour.`,
  };
}

/** Sends a link for signing in. It does not create an account, because a mistyped address would become one. */
export async function requestLink(_: FormState, form: FormData): Promise<FormState> {
  const email = textOf(form, "email");
  const { auth } = await pageSession();
  const next = safePath(textOf(form, "next"));
  const options = { emailRedirectTo: await callback(next), shouldCreateUser: false };
  const { error } = await auth.signInWithOtp({ email, options });
  // Supabase answers this when there is no account. The page must not reveal that.
  if (error && error.code !== "otp_disabled") return { error: explainAuthError(error), email };
  return {
    notice: `If there is an account for ${email}, a link is on its way. Open it in this browser; it works for an hour.`,
  };
}

/** Sets a new password in a session that a recent link by mail began. In other sessions, it asks for such a link. */
export async function chooseNewPassword(_: FormState, form: FormData): Promise<FormState> {
  const claims = await currentUser();
  if (!claims || !beganByRecentMail(claims)) redirect("/reset");
  const { auth } = await pageSession();
  const { error } = await auth.updateUser({ password: passwordOf(form) });
  if (error) return { error: explainAuthError(error) };
  redirect(homePath);
}

/** Signs out of this browser; other devices stay signed in. */
export async function signOut(): Promise<void> {
  await endPageSession();
  redirect("/sign-in");
}
