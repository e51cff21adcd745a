"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { currentUser, pageOrigin, pageSession, sessionInMemory } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";
import { supabaseProject } from "@/lib/env";

/** Not trimmed: a password may begin or end with a space. */
const textOf = (form: FormData, name: string) => String(form.get(name) ?? "");

/** The session and the e-mail address of the signed-in user. Redirects to the sign-in page when the session is over. */
async function requireAccount() {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const [{ auth }, { user }] = await Promise.all([pageSession(), readCurrentUser(claims)]);
  return { auth, email: user.email };
}

/**
 * Changes the password. The user proves who they are with the current password or with a code from a mail, so that an open
 * browser is not enough. The local sign-in checks either of them. A Supabase project does so only if it is configured to,
 * so there the current password is checked by signing in with it, in a separate session that is ended at once. The session
 * of this browser is kept, because it may have proved a second factor.
 */
export async function changePassword(_: FormState, form: FormData): Promise<FormState> {
  const { auth, email } = await requireAccount();
  const password = textOf(form, "password");
  const code = textOf(form, "code").replaceAll(" ", "");
  const current = textOf(form, "current");
  if (supabaseProject()) {
    const proving = await sessionInMemory();
    const known = await proving.auth.signInWithPassword({ email, password: current });
    if (!known.error) await proving.auth.signOut({ scope: "local" });
    if (known.error?.code === "invalid_credentials") return { error: "This is not your current password." };
    if (known.error) return { error: explainAuthError(known.error) };
  }
  const proof = code ? { nonce: code } : { current_password: current };
  const { error } = await auth.updateUser({ password, ...proof });
  if (error) return { error: explainAuthError(error) };
  return { notice: "Your password is changed. You are signed out everywhere else." };
}

/** Sends a code that can be used instead of the current password. */
export async function sendPasswordCode(): Promise<FormState> {
  const { auth, email } = await requireAccount();
  const { error } = await auth.reauthenticate();
  if (error) return { error: explainAuthError(error) };
  return { notice: `We sent a code to ${email}. It works once, within an hour.` };
}

/** Sends links to both addresses, which confirm the new one. @param workspace slug of the workspace whose settings the links open */
export async function changeEmail(workspace: string, _: FormState, form: FormData): Promise<FormState> {
  const { auth, email: current } = await requireAccount();
  const email = textOf(form, "email").trim();
  if (email.toLowerCase() === current) return { error: "This is your current address.", email };
  const { error } = await auth.updateUser({ email }, { emailRedirectTo: await confirmationOf(workspace) });
  if (error) return { error: explainAuthError(error), email };
  revalidatePath(`/${workspace}/settings/account`);
  return {};
}

/** Sends the links of a change of address again. @param workspace as for `changeEmail` */
export async function resendEmailChange(workspace: string): Promise<FormState> {
  const { auth, email } = await requireAccount();
  const options = { emailRedirectTo: await confirmationOf(workspace) };
  const { error } = await auth.resend({ type: "email_change", email, options });
  if (error) return { error: explainAuthError(error) };
  return { notice: "Both mails are sent again. Only the new links work." };
}

/** The target of the links that confirm a new address. */
async function confirmationOf(workspace: string): Promise<string> {
  const query = new URLSearchParams({ for: "address", next: `/${workspace}/settings/account` });
  return `${await pageOrigin()}/callback?${query}`;
}
