"use client";

import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { CurrentUser } from "@/lib/contract/access/me";
import { localeNames } from "@/lib/contract/values/locales";
import { useAccountForm } from "./use-account-form";

type Profile = CurrentUser["profile"];

/**
 * Edits how pages show figures to the signed-in user: the locale, and the currency of amounts.
 * @param props.currency a base currency other than USD of the user's workspaces; undefined if there is none, and so no choice
 */
export function FiguresForm({ profile, currency }: { profile: Profile; currency: string | undefined }) {
  const { save, fieldErrors, footer } = useAccountForm();
  const submit = (fields: FormData) =>
    save({
      locale: (textOf(fields, "locale") || null) as Profile["locale"],
      ...(currency && { shown_currency: textOf(fields, "currency") as Profile["shown_currency"] }),
    });
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <FormField
        label="Numbers and dates"
        description="Words stay in English. Answers of the API and CSV files are the same for everybody."
        error={fieldErrors.locale}
      >
        {(control) => (
          <Select {...control} name="locale" defaultValue={profile.locale ?? ""}>
            <option value="">As my browser asks for</option>
            {Object.entries(localeNames).map(([tag, name]) => (
              <option key={tag} value={tag}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {currency ? (
        <FormField
          label="Amounts"
          description="Every cost is recorded in USD. A workspace's own currency is converted at each day's rate and marked with ≈."
          error={fieldErrors.shown_currency}
        >
          {(control) => (
            <Select {...control} name="currency" defaultValue={profile.shown_currency}>
              <option value="usd">In USD</option>
              <option value="base">In the workspace&apos;s currency ({currency})</option>
              <option value="both">In both</option>
            </Select>
          )}
        </FormField>
      ) : null}
      {footer}
    </Form>
  );
}
