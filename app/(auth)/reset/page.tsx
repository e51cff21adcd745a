import type { Metadata } from "next";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { LinkForm } from "@/components/auth/forms";
import { requestReset } from "../actions";
import { OutboxHint } from "../outbox-hint";

export const metadata: Metadata = { title: "Reset the password" };

/** Asks for the address to send a link to, for choosing a new password. */
export default function ResetPage() {
  return (
    <AuthCard
      title="Reset the password"
      about="We send you a link for choosing a new one."
      footer={
        <>
          <OutboxHint />
          <p>
            <TextLink href="/sign-in">Back to sign in</TextLink>
          </p>
        </>
      }
    >
      <LinkForm action={requestReset} submit="Send the link" />
    </AuthCard>
  );
}
