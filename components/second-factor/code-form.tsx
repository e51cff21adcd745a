"use client";

import { AuthForm, type FormAction } from "@/components/auth/auth-form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { codeField } from "./second-factor";

/** `next` is the path to open after the form succeeded. */
type Props = { action: FormAction; next?: string };

/** Asks for the code of an authenticator app during sign-in. @param factors the user's authenticators; the first is preselected */
export function CodeForm({ action, next, factors }: Props & { factors: { id: string; name: string }[] }) {
  return (
    <AuthForm action={action} submit="Sign in">
      {() => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          {factors.length > 1 ? (
            <FormField label="Authenticator">
              {(control) => (
                <Select {...control} name="factor">
                  {factors.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </Select>
              )}
            </FormField>
          ) : (
            <input type="hidden" name="factor" value={factors[0]?.id ?? ""} />
          )}
          <TextField
            label="Code"
            {...codeField}
            description="The six digits that your authenticator app shows now."
            autoFocus
          />
        </>
      )}
    </AuthForm>
  );
}

/** Asks for a recovery code during sign-in. */
export function RecoveryCodeForm({ action, next }: Props) {
  return (
    <AuthForm action={action} submit="Sign in">
      {() => (
        <>
          <input type="hidden" name="next" value={next ?? ""} />
          <TextField
            label="Recovery code"
            name="code"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={40}
            required
            description="One of the codes you stored when you set up your authenticator. Each code works once."
            autoFocus
          />
        </>
      )}
    </AuthForm>
  );
}
