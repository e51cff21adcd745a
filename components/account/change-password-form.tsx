"use client";

import Link from "next/link";
import { useState, useTransition } from "react";
import { AuthForm, type FormState } from "@/components/auth/auth-form";
import { Field } from "@/components/auth/field";
import { newPassword } from "@/components/auth/forms";
import { Alert } from "@/components/ui/alert";

type Action = (state: FormState, form: FormData) => Promise<FormState>;

const asideClass = "text-muted-foreground text-xs underline-offset-4 hover:underline disabled:opacity-50";

/**
 * Changes the password of whoever knows the one they have, or has a code sent to their address.
 * @param sendCode sends the code; without it a link by mail is the way round
 */
export function ChangePasswordForm({
  email,
  action,
  sendCode,
}: {
  email: string;
  action: Action;
  sendCode?: () => Promise<FormState>;
}) {
  const [proof, setProof] = useState<"password" | "code">("password");
  const [sent, setSent] = useState<FormState>({});
  const [isSending, startSending] = useTransition();
  const send = () =>
    startSending(async () => {
      const outcome = await sendCode?.();
      setSent(outcome ?? {});
      if (outcome && !outcome.error) setProof("code");
    });
  const sendButton = (label: string) => (
    <button type="button" onClick={send} disabled={isSending} className={asideClass}>
      {label}
    </button>
  );
  return (
    <div className="grid gap-4">
      {sent.error ? <Alert variant="destructive">{sent.error}</Alert> : null}
      {sent.notice && proof === "code" ? (
        <p role="status" className="text-sm">
          {sent.notice}
        </p>
      ) : null}
      <AuthForm action={action} submit="Change the password">
        {() => (
          <>
            {/* Password managers want to know whose it is. */}
            <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
            {proof === "code" ? (
              <Field
                label="Code from the mail"
                name="code"
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="[0-9 ]{6,12}"
                maxLength={12}
                autoFocus
                aside={
                  <span className="flex gap-3">
                    {sendButton("Send it again")}
                    <button type="button" onClick={() => setProof("password")} className={asideClass}>
                      Use the password
                    </button>
                  </span>
                }
              />
            ) : (
              <Field
                label="Password you have"
                name="current"
                type="password"
                autoComplete="current-password"
                aside={
                  sendCode ? (
                    sendButton("Use a code by mail")
                  ) : (
                    <Link href="/reset" className={asideClass}>
                      Forgotten?
                    </Link>
                  )
                }
              />
            )}
            <Field label="New password" {...newPassword} />
          </>
        )}
      </AuthForm>
    </div>
  );
}
