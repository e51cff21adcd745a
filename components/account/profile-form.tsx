"use client";

import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { CurrentUser } from "@/lib/contract/access/me";
import { useAccountForm } from "./use-account-form";

/** Edits the signed-in user's display name and default workspace. */
export function ProfileForm({
  profile,
  workspaces,
}: {
  profile: CurrentUser["profile"];
  workspaces: { id: string; name: string }[];
}) {
  const { save, fieldErrors, footer } = useAccountForm();
  const submit = (fields: FormData) =>
    save({
      display_name: textOf(fields, "name") || null,
      default_workspace_id: textOf(fields, "workspace") || null,
    });
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <TextField
        label="Name"
        description="Other members see this name. If you leave it empty, they see your e-mail address."
        error={fieldErrors.display_name}
        name="name"
        defaultValue={profile.display_name ?? ""}
        maxLength={120}
        autoComplete="name"
      />
      <FormField
        label="Default workspace"
        description="This workspace opens after you sign in."
        error={fieldErrors.default_workspace_id}
      >
        {(control) => (
          <Select {...control} name="workspace" defaultValue={profile.default_workspace_id ?? ""}>
            <option value="">The first by name</option>
            {workspaces.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {footer}
    </Form>
  );
}
