"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { FormState, PasswordProof } from "@/components/auth/auth-form";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { currentUser, pageOrigin, pageSession } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";

/** Not trimmed: a password may begin or end with a space. */
const textOf = (form: FormData, name: string) => String(form.get(name) ?? "");

/** The session and the e-mail address of the signed-in user. Redirects to the sign-in page when the session is over. */
async function requireAccount() {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const [{ auth }, { user }] = await Promise.all([pageSession(), readCurrentUser(claims)]);
  return { auth, email: user.email };
}

/** By refusal of the identity provider, the proof that it requires before it sets a password. */
const wantedProofs: Record<string, PasswordProof> = {
  current_password_required: "current",
  reauthentication_needed: "code",
};

/**
 * Changes the password. The identity provider decides which proof of identity it requires: the local sign-in the current
 * password or a code from a mail, a Supabase project according to its settings. If it requires another proof, the form asks for
 * that, and a code is sent if needed.
 */
export async function changePassword({ needs = [] }: FormState, form: FormData): Promise<FormState> {
  const { auth } = await requireAccount();
  const code = textOf(form, "code").replaceAll(" ", "");
  const current = textOf(form, "current");
  const { error } = await auth.updateUser({
    password: textOf(form, "password"),
    ...(code && { nonce: code }),
    ...(current && { current_password: current }),
  });
  if (!error) return { notice: "Your password is changed. You are signed out everywhere else." };
  const wanted = wantedProofs[error.code ?? ""];
  if (!wanted || needs.includes(wanted)) return { error: explainAuthError(error), needs };
  // Supabase Auth has used up the code before it asks for the password, so another code is sent.
  const sent = wanted === "code" || code ? await sendPasswordCode() : {};
  return { ...sent, needs: [...needs, wanted] };
}

/** Sends a code that proves the user's identity for a change of the password. */
export async function sendPasswordCode(): Promise<FormState> {
  const { auth } = await requireAccount();
  const { error } = await auth.reauthenticate();
  return error ? { error: explainAuthError(error) } : {};
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
