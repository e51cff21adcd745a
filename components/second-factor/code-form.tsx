"use client";

import { AuthForm, type FormState } from "@/components/auth/auth-form";
import { Field } from "@/components/auth/field";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { codeField } from "./second-factor";

type Props = { action: (state: FormState, form: FormData) => Promise<FormState>; next?: string };

/** Asks for the code of an authenticator app while signing in. @param factors the one that is offered first comes first */
export function CodeForm({ action, next, factors }: Props & { factors: { id: string; name: string }[] }) {
  return (
    <AuthForm action={action} submit="Sign in">
      {() => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          {factors.length > 1 ? (
            <div className="grid gap-1.5">
              <Label htmlFor="factor">Authenticator</Label>
              <Select id="factor" name="factor">
                {factors.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            </div>
          ) : (
            <input type="hidden" name="factor" value={factors[0]?.id ?? ""} />
          )}
          <Field
            label="Code"
            {...codeField}
            hint="The six digits that your authenticator app shows now."
            autoFocus
          />
        </>
      )}
    </AuthForm>
  );
}

/** Asks for a recovery code while signing in. */
export function RecoveryCodeForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Sign in">
      {() => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <Field
            label="Recovery code"
            name="code"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={40}
            hint="One of those you stored when you set up your authenticator. It works once."
            autoFocus
          />
        </>
      )}
    </AuthForm>
  );
}
