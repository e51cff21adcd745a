import type { Metadata } from "next";
import { requestLink } from "@/app/(auth)/actions";
import { OutboxHint } from "@/app/(auth)/outbox-hint";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { LinkForm } from "@/components/auth/forms";

export const metadata: Metadata = { title: "Sign in by link" };

/** Asks for a link that signs in without a password. */
export default function SignInLinkPage() {
  return (
    <AuthCard
      title="Sign in by link"
      about="A link in a mail signs you in once, without a password."
      footer={
        <>
          <OutboxHint />
          <p>
            <TextLink href="/sign-in">Sign in with a password</TextLink>
          </p>
        </>
      }
    >
      <LinkForm action={requestLink} submit="Send the link" />
    </AuthCard>
  );
}
