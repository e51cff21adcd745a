import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { signOut } from "@/app/(auth)/actions";
import { submitCode, submitRecoveryCode } from "@/app/(auth)/second-factor-actions";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { CodeForm, RecoveryCodeForm } from "@/components/second-factor/code-form";
import { Button } from "@/components/ui/button";
import { readFactors } from "@/lib/access/sign-in/page-factors";
import { currentUser, pageSession, sessionUser } from "@/lib/access/sign-in/page-session";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";

export const metadata: Metadata = { title: "Two-factor authentication" };

type Query = { next?: string; with?: string };

/** Asks for the second factor, after the password or the link. With `with=recovery` in the address, it asks for a recovery code. */
export default async function CodePage({ searchParams }: { searchParams: Promise<Query> }) {
  const { next, with: kind } = await searchParams;
  const user = await sessionUser();
  if (!user) redirect(withNext("/sign-in", next));
  if (await currentUser()) redirect(safePath(next));
  const { authenticators, hasRecoveryCodes } = await readFactors(await pageSession());
  const here = withNext("/sign-in/code", next);
  const asksForRecoveryCode = kind === "recovery" && hasRecoveryCodes;
  const alternative = asksForRecoveryCode
    ? { href: here, label: "Use your authenticator app", question: "Do you have your authenticator?" }
    : {
        href: `${here}${next ? "&" : "?"}with=recovery`,
        label: "Use a recovery code",
        question: "Do you not have your authenticator?",
      };
  return (
    <AuthCard
      title="Two-factor authentication"
      about={`Signing in as ${user.email}.`}
      footer={
        <>
          {hasRecoveryCodes ? (
            <p>
              {alternative.question} <TextLink href={alternative.href}>{alternative.label}</TextLink>
            </p>
          ) : null}
          <form action={signOut}>
            <Button
              type="submit"
              variant="link"
              className="h-auto p-0 text-muted-foreground underline decoration-border underline-offset-4"
            >
              Sign out
            </Button>
          </form>
        </>
      }
    >
      {asksForRecoveryCode ? (
        <RecoveryCodeForm action={submitRecoveryCode} {...(next && { next })} />
      ) : authenticators.length > 0 ? (
        <CodeForm action={submitCode} factors={authenticators} {...(next && { next })} />
      ) : (
        <p role="alert" className="text-sm">
          Your account has a second factor that this page does not support. It only supports authenticator
          apps. Ask the operator of this service to remove it.
        </p>
      )}
    </AuthCard>
  );
}
