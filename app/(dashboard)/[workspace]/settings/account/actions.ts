"use server";

import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { explainAuthError } from "@/lib/auth/explain-error";
import { currentUser, pageSession } from "@/lib/auth/page-session";
import { readCurrentUser } from "@/lib/workspaces/service";

/** As typed: a password may begin or end with a space. */
const passwordOf = (form: FormData, name: string) => String(form.get(name) ?? "");

/**
 * Sets a new password for whoever knows the one they have: somebody who finds a browser open does not. They are signed in
 * anew by it, and the session before ends with all others.
 */
export async function changePassword(_: FormState, form: FormData): Promise<FormState> {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const { auth } = await pageSession();
  const { email } = (await readCurrentUser(claims)).user;
  const known = await auth.signInWithPassword({ email, password: passwordOf(form, "current") });
  if (known.error?.code === "invalid_credentials") return { error: "This is not the password you have." };
  if (known.error) return { error: explainAuthError(known.error) };
  const { error } = await auth.updateUser({ password: passwordOf(form, "password") });
  if (error) return { error: explainAuthError(error) };
  return { notice: "Your password is changed. You are signed out everywhere else." };
}
