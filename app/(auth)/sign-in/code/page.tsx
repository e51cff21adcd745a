import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { signOut } from "@/app/(auth)/actions";
import { giveCode, giveRecoveryCode } from "@/app/(auth)/second-factor-actions";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { CodeForm, RecoveryCodeForm } from "@/components/second-factor/code-form";
import { Button } from "@/components/ui/button";
import { readFactors } from "@/lib/access/sign-in/page-factors";
import { currentUser, pageSession, sessionUser } from "@/lib/access/sign-in/page-session";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";

export const metadata: Metadata = { title: "Two-factor authentication" };

type Query = { next?: string; with?: string };

/** Asks whoever gave their password, or opened a link, for the second factor they set up. `with=recovery` takes another code. */
export default async function CodePage({ searchParams }: { searchParams: Promise<Query> }) {
  const { next, with: kind } = await searchParams;
  const user = await sessionUser();
  if (!user) redirect(withNext("/sign-in", next));
  if (await currentUser()) redirect(safePath(next));
  const { authenticators, hasRecoveryCodes } = await readFactors(await pageSession());
  const here = withNext("/sign-in/code", next);
  const takesRecoveryCode = kind === "recovery" && hasRecoveryCodes;
  const other = takesRecoveryCode
    ? { href: here, label: "Use your authenticator app", why: "Is your authenticator at hand after all?" }
    : {
        href: `${here}${next ? "&" : "?"}with=recovery`,
        label: "Use a recovery code",
        why: "Is your authenticator not at hand?",
      };
  return (
    <AuthCard
      title="Two-factor authentication"
      about={`Signing in as ${user.email}.`}
      footer={
        <>
          {hasRecoveryCodes ? (
            <p>
              {other.why} <TextLink href={other.href}>{other.label}</TextLink>
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
      {takesRecoveryCode ? (
        <RecoveryCodeForm action={giveRecoveryCode} {...(next && { next })} />
      ) : authenticators.length > 0 ? (
        <CodeForm action={giveCode} factors={authenticators} {...(next && { next })} />
      ) : (
        <p role="alert" className="text-sm">
          Your account has a second factor that this page cannot ask for: it takes authenticator apps alone.
          Ask whoever runs this service to remove it.
        </p>
      )}
    </AuthCard>
  );
}
