"use client";

import { useState, useTransition } from "react";
import { AuthForm, type FormAction, type FormState } from "@/components/auth/auth-form";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/form-field";

/** A change of e-mail address that is not confirmed yet. */
export type PendingAddress = { current: string; wanted: string };

/** Changes the e-mail address. The change takes effect when links sent to both addresses have been opened. */
export function ChangeEmailForm({
  pending,
  action,
  resend,
}: {
  pending?: PendingAddress | undefined;
  action: FormAction;
  /** Sends the mails of the pending change again. */
  resend: () => Promise<FormState>;
}) {
  return (
    <div className="grid gap-6">
      {pending ? <PendingConfirmations pending={pending} resend={resend} /> : null}
      {/* The key empties the form when a change becomes pending. */}
      <AuthForm key={pending?.wanted} action={action} submit="Change the address">
        {(state) => (
          <TextField
            label="New e-mail address"
            name="email"
            type="email"
            autoComplete="email"
            maxLength={255}
            required
            defaultValue={state.email}
          />
        )}
      </AuthForm>
    </div>
  );
}

function PendingConfirmations({
  pending: { current, wanted },
  resend,
}: {
  pending: PendingAddress;
  resend: () => Promise<FormState>;
}) {
  const [outcome, setOutcome] = useState<FormState>({});
  const [isSending, startSending] = useTransition();
  return (
    <div className="grid gap-3 rounded-md border px-3.5 py-3 text-sm">
      <p>
        Your address becomes <strong className="break-all font-medium">{wanted}</strong> once the links in
        both mails have been opened:
      </p>
      <ul className="grid list-disc gap-1 pl-5 [&_li]:break-all">
        <li>the one to {current}, your present address</li>
        <li>the one to {wanted}</li>
      </ul>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button
          variant="outline"
          size="sm"
          disabled={isSending}
          onClick={() => startSending(async () => setOutcome(await resend()))}
        >
          Send both again
        </Button>
        {outcome.notice ? <p role="status">{outcome.notice}</p> : null}
      </div>
      {outcome.error ? <Alert variant="destructive">{outcome.error}</Alert> : null}
    </div>
  );
}
