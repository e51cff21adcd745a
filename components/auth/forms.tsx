"use client";

import Link from "next/link";
import { AuthForm, type FormState } from "./auth-form";
import { Field } from "./field";

type Props = { action: (state: FormState, form: FormData) => Promise<FormState>; next?: string };

const email = {
  label: "E-mail address",
  name: "email",
  type: "email",
  autoComplete: "username",
  maxLength: 255,
};
/** The line for a password that is chosen. */
export const newPassword = {
  name: "password",
  type: "password",
  autoComplete: "new-password",
  minLength: 8,
  maxLength: 72,
  hint: "At least 8 characters.",
};

/** Signs in with a password. */
export function SignInForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Sign in">
      {(state) => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <Field {...email} defaultValue={state.email} autoFocus={!state.email} />
          <Field
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            aside={
              <Link
                href="/reset"
                className="text-muted-foreground text-xs underline-offset-4 hover:underline"
              >
                Forgotten?
              </Link>
            }
          />
        </>
      )}
    </AuthForm>
  );
}

/** Makes an account. */
export function SignUpForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Make an account">
      {(state) => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <Field
            label="Name"
            name="name"
            autoComplete="name"
            maxLength={120}
            defaultValue={state.name}
            autoFocus
          />
          <Field {...email} defaultValue={state.email} />
          <Field label="Password" {...newPassword} />
        </>
      )}
    </AuthForm>
  );
}

/** Asks for a link by mail. */
export function LinkForm({ action, submit, next }: Props & { submit: string }) {
  return (
    <AuthForm action={action} submit={submit}>
      {(state) => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <Field {...email} defaultValue={state.email} autoFocus />
        </>
      )}
    </AuthForm>
  );
}

/** Answers an invitation by its link. */
export function InvitationForm({ action, token, submit }: Props & { token: string; submit: string }) {
  return (
    <AuthForm action={action} submit={submit}>
      {() => <input type="hidden" name="token" value={token} />}
    </AuthForm>
  );
}

/** Chooses a new password. */
export function NewPasswordForm({ action }: Props) {
  return (
    <AuthForm action={action} submit="Set the password">
      {() => <Field label="New password" {...newPassword} autoFocus />}
    </AuthForm>
  );
}
