"use client";

import { type ReactNode, useActionState } from "react";
import { Button } from "@/components/ui/button";

/** What a form's action answers: what went wrong, or what happened. What was typed comes back, but no password. */
export type FormState = { error?: string; notice?: string; email?: string; name?: string };

/** A form that a server action answers; it works before the page's scripts have come, too. */
export function AuthForm({
  action,
  submit,
  children,
}: {
  action: (state: FormState, form: FormData) => Promise<FormState>;
  submit: string;
  children: (state: FormState) => ReactNode;
}) {
  const [state, send, pending] = useActionState(action, {});
  if (state.notice) {
    return (
      <p role="status" className="rounded-md border bg-muted px-3.5 py-3 text-sm">
        {state.notice}
      </p>
    );
  }
  return (
    <form action={send} className="grid gap-4">
      {state.error ? (
        <p
          role="alert"
          className="rounded-md border border-destructive/30 bg-destructive/10 px-3.5 py-2.5 text-destructive text-sm"
        >
          {state.error}
        </p>
      ) : null}
      {children(state)}
      <Button type="submit" disabled={pending} className="h-10 sm:h-9">
        {submit}
      </Button>
    </form>
  );
}
