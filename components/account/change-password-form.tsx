"use client";

import Link from "next/link";
import { AuthForm, type FormState } from "@/components/auth/auth-form";
import { Field } from "@/components/auth/field";
import { newPassword } from "@/components/auth/forms";

/** Changes the password of whoever knows the one they have. */
export function ChangePasswordForm({
  email,
  action,
}: {
  email: string;
  action: (state: FormState, form: FormData) => Promise<FormState>;
}) {
  return (
    <AuthForm action={action} submit="Change the password">
      {() => (
        <>
          {/* Password managers want to know whose it is. */}
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
          <Field
            label="Password you have"
            name="current"
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
          <Field label="New password" {...newPassword} />
        </>
      )}
    </AuthForm>
  );
}
