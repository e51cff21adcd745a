"use server";

import { redirect } from "next/navigation";
import type { FormState } from "@/components/auth/auth-form";
import { acceptInvitation } from "@/lib/access/invitations/service";
import { currentUser, endPageSession } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";
import { ServiceError } from "@/lib/errors";

const tokenOf = (form: FormData) => encodeURIComponent(String(form.get("token") ?? ""));
const signInFor = (token: string) => withNext("/sign-in", `/invite/${token}`);

/** Accepts the invitation and opens the workspace. */
export async function join(_: FormState, form: FormData): Promise<FormState> {
  const token = tokenOf(form);
  const claims = await currentUser();
  if (!claims) redirect(signInFor(token));
  const joined = await acceptInvitation(claims, decodeURIComponent(token)).catch((error: unknown) => {
    if (error instanceof ServiceError && error.status < 500) return error;
    throw error;
  });
  // The invitation became invalid, for example because it was used. The reloaded page explains that.
  if (joined instanceof ServiceError)
    return joined.code === "not_found" ? redirect(`/invite/${token}`) : { error: joined.message };
  redirect(`/${joined.slug}`);
}

/** Signs out, so that the user can sign in with another account and return to the invitation. */
export async function changeAccount(_: FormState, form: FormData): Promise<FormState> {
  await endPageSession();
  redirect(signInFor(tokenOf(form)));
}
