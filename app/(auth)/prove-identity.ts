"use server";

import { redirect } from "next/navigation";
import { z } from "zod";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { readFactors } from "@/lib/access/sign-in/page-factors";
import { currentUser, pageSession } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";

const given = z.string().max(200);

/** The authenticator apps of the signed-in user. `proveIdentity` takes a code of one, or the password if there are none. */
export async function listAuthenticators(): Promise<{ id: string; name: string }[]> {
  if (!(await currentUser())) redirect("/sign-in");
  const { authenticators } = await readFactors(await pageSession());
  return authenticators.map(({ id, name }) => ({ id, name }));
}

/**
 * Proves the identity of the signed-in user again: with a code of an authenticator app if they have one, otherwise with the password.
 * The page's session then contains the new proof, which deletions require. Server actions can be called with any values, so each
 * is parsed.
 * @param secret the code, or the password
 * @param factorId the authenticator that generated the code
 */
export async function proveIdentity(secret: string, factorId?: string): Promise<{ error?: string }> {
  const claims = await currentUser();
  if (!claims) redirect("/sign-in");
  const session = await pageSession();
  const { authenticators } = await readFactors(session);
  const typed = given.parse(secret);
  const [first] = authenticators;
  if (first) {
    const chosen = authenticators.find(({ id }) => id === factorId) ?? first;
    const code = typed.replace(/\s/g, "");
    const { error } = await session.auth.mfa.challengeAndVerify({ factorId: chosen.id, code });
    return error ? { error: explainAuthError(error) } : {};
  }
  const { user } = await readCurrentUser(claims);
  const { error } = await session.auth.signInWithPassword({ email: user.email, password: typed });
  if (error?.code === "invalid_credentials") return { error: "The password is wrong." };
  return error ? { error: explainAuthError(error) } : {};
}

/** Ends all sessions of the user at the identity provider, after the account was deleted. */
export async function signOutEverywhere(): Promise<void> {
  const { auth } = await pageSession();
  await auth.signOut({ scope: "global" });
  redirect("/sign-in");
}
