"use client";

import { TextField } from "@/components/ui/form-field";
import { Link } from "@/components/ui/link";
import { AuthForm, type FormAction } from "./auth-form";

/** `next` is the path to open after the form succeeded. */
type Props = { action: FormAction; next?: string };

const email = {
  label: "E-mail address",
  name: "email",
  type: "email",
  autoComplete: "username",
  maxLength: 255,
  required: true,
};

/** Props of a field for a new password. */
export const newPassword = {
  name: "password",
  type: "password",
  autoComplete: "new-password",
  minLength: 8,
  maxLength: 72,
  required: true,
  description: "At least 8 characters.",
};

/** Signs in with e-mail address and password. */
export function SignInForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Sign in">
      {(state) => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <TextField {...email} defaultValue={state.email} autoFocus={!state.email} />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
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

/** Creates an account. */
export function SignUpForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Create an account">
      {(state) => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <TextField
            label="Name"
            name="name"
            autoComplete="name"
            maxLength={120}
            required
            defaultValue={state.name}
            autoFocus
          />
          <TextField {...email} defaultValue={state.email} />
          <TextField label="Password" {...newPassword} />
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
          <TextField {...email} defaultValue={state.email} autoFocus />
        </>
      )}
    </AuthForm>
  );
}

/** A form with one button that answers the invitation of a token. */
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
      {() => <TextField label="New password" {...newPassword} autoFocus />}
    </AuthForm>
  );
}
