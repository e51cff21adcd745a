"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { currentUser, pageOrigin, pageSession, sessionInMemory } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";
import { supabaseProject } from "@/lib/env";

/** As typed: a password may begin or end with a space. */
const textOf = (form: FormData, name: string) => String(form.get(name) ?? "");

/** The session of this page and the address of its user, who may have been signed out since it was shown. */
async function requireAccount() {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const [{ auth }, { user }] = await Promise.all([pageSession(), readCurrentUser(claims)]);
  return { auth, email: user.email };
}

/**
 * Sets a new password for whoever knows the one they have, or has the code of a mail: somebody who finds a browser open
 * does not. The local sign-in asks for either by itself. Whether a Supabase project does is a setting of the project:
 * with one, the password is proved by signing in with it, in a session that ends at once: this browser's own has perhaps
 * proved a second factor, which a new one would not have.
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
    if (known.error?.code === "invalid_credentials") return { error: "This is not the password you have." };
    if (known.error) return { error: explainAuthError(known.error) };
  }
  const proof = code ? { nonce: code } : { current_password: current };
  const { error } = await auth.updateUser({ password, ...proof });
  if (error) return { error: explainAuthError(error) };
  return { notice: "Your password is changed. You are signed out everywhere else." };
}

/** Sends the code that stands in for the present password. */
export async function sendPasswordCode(): Promise<FormState> {
  const { auth, email } = await requireAccount();
  const { error } = await auth.reauthenticate();
  if (error) return { error: explainAuthError(error) };
  return { notice: `We sent a code to ${email}. It works once, within an hour.` };
}

/** Asks both addresses to confirm the new one. @param workspace whose settings the links lead back to */
export async function changeEmail(workspace: string, _: FormState, form: FormData): Promise<FormState> {
  const { auth, email: current } = await requireAccount();
  const email = textOf(form, "email").trim();
  if (email.toLowerCase() === current) return { error: "This is the address you have.", email };
  const { error } = await auth.updateUser({ email }, { emailRedirectTo: await confirmationOf(workspace) });
  if (error) return { error: explainAuthError(error), email };
  revalidatePath(`/${workspace}/settings/account`);
  return {};
}

/** Sends the mails of a change of address again. @param workspace as for `changeEmail` */
export async function resendEmailChange(workspace: string): Promise<FormState> {
  const { auth, email } = await requireAccount();
  const options = { emailRedirectTo: await confirmationOf(workspace) };
  const { error } = await auth.resend({ type: "email_change", email, options });
  if (error) return { error: explainAuthError(error) };
  return { notice: "Both mails are sent again; only these count now." };
}

/** Where the links that confirm a new address lead. */
async function confirmationOf(workspace: string): Promise<string> {
  const query = new URLSearchParams({ for: "address", next: `/${workspace}/settings/account` });
  return `${await pageOrigin()}/callback?${query}`;
}
