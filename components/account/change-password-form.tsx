"use client";

import { useState, useTransition } from "react";
import { AuthForm, type FormAction, type FormState } from "@/components/auth/auth-form";
import { newPassword } from "@/components/auth/forms";
import { Link } from "@/components/link";
import { Alert } from "@/components/ui/alert";
import { TextField } from "@/components/ui/form-field";

const asideClass = "text-muted-foreground text-xs underline-offset-4 hover:underline disabled:opacity-50";

/**
 * Changes the password. The user proves who they are with the current password, or with a code sent to their address.
 * @param sendCode sends the code; without it, a user who forgot the password resets it by mail
 */
export function ChangePasswordForm({
  email,
  action,
  sendCode,
}: {
  email: string;
  action: FormAction;
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
            {/* Password managers need the account's name. */}
            <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
            {proof === "code" ? (
              <TextField
                label="Code from the mail"
                name="code"
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="[0-9 ]{6,12}"
                maxLength={12}
                required
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
              <TextField
                label="Current password"
                name="current"
                type="password"
                autoComplete="current-password"
                required
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
            <TextField label="New password" {...newPassword} />
          </>
        )}
      </AuthForm>
    </div>
  );
}
