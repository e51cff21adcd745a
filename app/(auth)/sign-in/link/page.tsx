import type { Metadata } from "next";
import { requestLink } from "@/app/(auth)/actions";
import { OutboxHint } from "@/app/(auth)/outbox-hint";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { LinkForm } from "@/components/auth/forms";
import { withNext } from "@/lib/access/sign-in/safe-path";

export const metadata: Metadata = { title: "Sign in by link" };

/** Asks for the address to send a link to, for signing in without a password. */
export default async function SignInLinkPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string>>;
}) {
  const { next } = await searchParams;
  return (
    <AuthCard
      title="Sign in by link"
      about="We send you a link that signs you in once, without a password."
      footer={
        <>
          <OutboxHint />
          <p>
            <TextLink href={withNext("/sign-in", next)}>Sign in with a password</TextLink>
          </p>
        </>
      }
    >
      <LinkForm action={requestLink} submit="Send the link" {...(next && { next })} />
    </AuthCard>
  );
}
