"use client";

import { useState, useTransition } from "react";
import { AuthForm, type FormAction, type FormState, type PasswordProof } from "@/components/auth/auth-form";
import { newPassword } from "@/components/auth/forms";
import { Alert } from "@/components/ui/alert";
import { TextField } from "@/components/ui/form-field";
import { Link } from "@/components/ui/link";

const asideClass = "text-muted-foreground text-xs underline-offset-4 hover:underline disabled:opacity-50";

/**
 * Changes the password. The local sign-in requires the current password or a code sent to the address, as the user chooses.
 * What a Supabase project requires depends on its settings and on the age of the session, so the form asks for it after the
 * project has refused. A project may require both the password and the code, but says so only after the code is used up; from
 * then on, the form asks for both.
 * @param sendCode sends the code
 * @param isHosted whether a Supabase project decides which proof it requires
 */
export function ChangePasswordForm({
  email,
  action,
  sendCode,
  isHosted = false,
}: {
  email: string;
  action: FormAction;
  sendCode: () => Promise<FormState>;
  isHosted?: boolean;
}) {
  const [chosen, setChosen] = useState<PasswordProof>("current");
  // Kept in state, because React resets the form after the action, and the password is sent again with the proof.
  const [password, setPassword] = useState("");
  const [sent, setSent] = useState<FormState>({});
  const [isSending, startSending] = useTransition();
  const send = () =>
    startSending(async () => {
      const outcome = await sendCode();
      setSent(outcome);
      if (!outcome.error) setChosen("code");
    });
  const sendButton = (label: string) => (
    <button type="button" onClick={send} disabled={isSending} className={asideClass}>
      {label}
    </button>
  );
  return (
    <div className="grid gap-4">
      {sent.error ? <Alert variant="destructive">{sent.error}</Alert> : null}
      <AuthForm action={action} submit="Change the password">
        {(state) => {
          const needs = isHosted ? (state.needs ?? []) : [chosen];
          return (
            <>
              {/* Password managers need the account's name. */}
              <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
              {needs.includes("code") ? (
                <>
                  <p role="status" className="text-sm">
                    We sent a code to {email}. It works once, within an hour.
                  </p>
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
                        {isHosted ? null : (
                          <button type="button" onClick={() => setChosen("current")} className={asideClass}>
                            Use the password
                          </button>
                        )}
                      </span>
                    }
                  />
                </>
              ) : null}
              {needs.includes("current") || (isHosted && needs.includes("code")) ? (
                <TextField
                  label="Current password"
                  name="current"
                  type="password"
                  autoComplete="current-password"
                  required={needs.includes("current")}
                  {...(!needs.includes("current") && { description: "Leave it empty if you have none." })}
                  aside={
                    isHosted ? (
                      <Link href="/reset" className={asideClass}>
                        Forgotten?
                      </Link>
                    ) : (
                      sendButton("Use a code by mail")
                    )
                  }
                />
              ) : null}
              <TextField
                label="New password"
                {...newPassword}
                value={password}
                onChange={(event) => setPassword(event.target.value)}
              />
            </>
          );
        }}
      </AuthForm>
    </div>
  );
}
