"use client";

import { useState, useTransition } from "react";
import { AuthForm, type FormState } from "@/components/auth/auth-form";
import { Field } from "@/components/auth/field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

/** A change of address that waits for its mails to be opened. */
export type PendingAddress = { current: string; wanted: string };

/** Changes the e-mail address, once both the present and the new one have confirmed it. */
export function ChangeEmailForm({
  pending,
  action,
  resend,
}: {
  pending?: PendingAddress | undefined;
  action: (state: FormState, form: FormData) => Promise<FormState>;
  /** Sends the mails of the pending change again. */
  resend: () => Promise<FormState>;
}) {
  return (
    <div className="grid gap-6">
      {pending ? <PendingConfirmations pending={pending} resend={resend} /> : null}
      {/* A change that was just asked for is shown above; the form is empty for another. */}
      <AuthForm key={pending?.wanted} action={action} submit="Change the address">
        {(state) => (
          <Field
            label="New e-mail address"
            name="email"
            type="email"
            autoComplete="email"
            maxLength={255}
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
