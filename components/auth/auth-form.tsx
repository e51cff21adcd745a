"use client";

import { useOffline } from "next/offline";
import { type ReactNode, useActionState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

/**
 * The state that a server action returns: `error` when it failed, `notice` when it is done and there is no next page.
 * `email` and `name` fill the form again after an error; passwords are never sent back. `needs`: the proofs of identity
 * that a change of the password requires, as a refusal said.
 */
export type FormState = {
  error?: string;
  notice?: string;
  email?: string;
  name?: string;
  needs?: readonly PasswordProof[];
};

/** The current password, or a code sent by mail. */
export type PasswordProof = "current" | "code";

/** A server action that handles a form. */
export type FormAction = (state: FormState, form: FormData) => Promise<FormState>;

/**
 * A form that is handled by a server action; it also works before the page's scripts are loaded. States: empty, pending,
 * with an error, and replaced by a notice.
 */
export function AuthForm({
  action,
  submit,
  children,
}: {
  action: FormAction;
  /** Label of the button. */
  submit: string;
  children: (state: FormState) => ReactNode;
}) {
  const [state, send, pending] = useActionState(action, {});
  const isOffline = useOffline();
  if (state.notice) return <Alert role="status">{state.notice}</Alert>;
  return (
    <form action={send} className="grid gap-4">
      {state.error ? <Alert variant="destructive">{state.error}</Alert> : null}
      {children(state)}
      <Button type="submit" disabled={pending} className="h-10 sm:h-9">
        {submit}
      </Button>
      {pending && isOffline ? (
        <Alert role="status" variant="warning">
          What you entered is still here. It is sent when Outlay can be reached again.
        </Alert>
      ) : null}
    </form>
  );
}
